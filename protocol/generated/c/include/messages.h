// All generated C messages; only Shared/Wire imports them.
#include "client/channel.pb-c.h"
#include "client/error.pb-c.h"
#include "client/frame.pb-c.h"
#include "client/session.pb-c.h"
#include "service/link.pb-c.h"
#include "service/messaging.pb-c.h"
#include "service/presence.pb-c.h"
#include "service/storage.pb-c.h"
