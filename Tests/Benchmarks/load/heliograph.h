/* What the two adapters of Heliograph's protocol share: that of message channels, and that of topics. */
#ifndef HELIOGRAPH_H
#define HELIOGRAPH_H

#include "adapter.h"
#include "connection.h"
#include "name.h"
#include "protobuf.h"

enum { CLIENT_HELLO = 2, CLIENT_LOGIN = 3, CLIENT_HEARTBEAT = 5, CLIENT_SUBSCRIBE = 6, CLIENT_PUBLISH = 8, CLIENT_SET_STATE = 22 };
enum { SUBSCRIBE_CHANNEL = 1, SUBSCRIBE_FEATURES = 2, SUBSCRIBE_CHANNEL_TYPE = 5, SUBSCRIBE_PUBLISHERS = 7 };
enum { FEATURE_PRESENCE = 1, FEATURE_MESSAGE = 4, FEATURE_QUIET = 16 };
enum { PUBLISH_CHANNEL_TYPE = 1, PUBLISH_CHANNEL = 2, PUBLISH_PAYLOAD = 4 };
enum { CHANNEL_TYPE_MESSAGE = 1, CHANNEL_TYPE_STREAM = 2, CHANNEL_TYPE_TOPICS = 4, CHANNEL_TYPE_TOPIC = 5 };

/* What follows the answers to Login, Subscribe and SetState. */
struct heliograph_steps {
    void (*logged_in)(struct connection *c);
    void (*subscribed)(struct connection *c);
    void (*done)(struct connection *c);
};

/* Reserves a ClientFrame whose body has `size` bytes, and returns where the body goes. `adapter_state` counts the frames. */
uint8_t *heliograph_frame(struct connection *c, int kind, size_t size);

/* Writes the user of a connection and returns the length of the name. */
size_t heliograph_user(char into[NAME_BYTES_MAX], uint32_t id);

void heliograph_log_in(struct connection *c);
void heliograph_ping(struct connection *c);
ssize_t heliograph_parse(struct connection *c, const uint8_t *bytes, size_t count, const struct heliograph_steps *steps);

#endif
