#include "build.h"

#ifndef RTM_COMMIT
#define RTM_COMMIT unknown
#endif

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const char *rtm_build_commit(void) { return TEXT(RTM_COMMIT); }
