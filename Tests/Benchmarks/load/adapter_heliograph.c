/* Heliograph's client protocol, written from protocol/core.md. A frame is a big-endian length of 4 bytes and one protobuf
 * message.
 *
 * Hello and Login leave together. A subscription asks for messages only unless the command line says otherwise, because
 * the peers have nothing like presence. A message channel never brings a publisher its own message, which suits the generator: its publishers don't
 * subscribe. Every publish is answered by Published, whether the generator waits for it or not. */
#include "heliograph.h"
#include "name.h"
#include <stdio.h>

enum { PROTOCOL_VERSION = 1 };
enum { FRAME_REQUEST_ID = 1 };
enum {
    SERVER_LOGGED_IN = 3, SERVER_HEARTBEAT_ACK = 5, SERVER_SUBSCRIBED = 6, SERVER_PUBLISHED = 8, SERVER_ERROR = 9,
    SERVER_PUBLICATION = 10, SERVER_GAP = 11, SERVER_DISCONNECT = 12, SERVER_DONE = 18,
};
enum { HELLO_VERSION_MIN = 1, HELLO_VERSION_MAX = 2 };
enum { LOGIN_APP_ID = 1, LOGIN_USER_ID = 2, LOGIN_HEARTBEAT_INTERVAL_S = 4 };
enum { PUBLICATION_MESSAGE = 6, MESSAGE_PAYLOAD = 2 };
enum { REFUSAL_CODE = 1, REFUSAL_REASON = 2 };  /* The same numbers in Error and in Disconnect. */

/* A session that is silent for longer is ended, and a subscriber of the generator pings in `idle` and `stay` alone. */
static uint32_t heartbeat_interval(void) { return options.heartbeat ? options.heartbeat : 1800; }

static const char app[] = "dev";

/* Reserves a ClientFrame whose body has `size` bytes, and returns where the body goes. */
uint8_t *heliograph_frame(struct connection *c, int kind, size_t size) {
    uint64_t request = ++c->adapter_state;
    size_t frame = protobuf_integer_size(FRAME_REQUEST_ID, request) + protobuf_bytes_size(kind, size);
    uint8_t *o = connection_reserve(c, 4 + frame);
    for (int shift = 24; shift >= 0; shift -= 8) *o++ = (uint8_t)(frame >> shift);
    return protobuf_head(protobuf_integer(o, FRAME_REQUEST_ID, request), kind, size);
}

static void hello(struct connection *c) {
    uint8_t *o = heliograph_frame(c, CLIENT_HELLO, protobuf_integer_size(HELLO_VERSION_MIN, PROTOCOL_VERSION)
        + protobuf_integer_size(HELLO_VERSION_MAX, PROTOCOL_VERSION));
    o = protobuf_integer(o, HELLO_VERSION_MIN, PROTOCOL_VERSION);
    protobuf_integer(o, HELLO_VERSION_MAX, PROTOCOL_VERSION);
}

/* Writes the user of a connection and returns the length of the name. */
size_t heliograph_user(char into[NAME_BYTES_MAX], uint32_t id) {
    return (size_t)snprintf(into, NAME_BYTES_MAX, "%s-u%u", options.prefix, id);
}

/* Writes a Hello and a Login. */
void heliograph_log_in(struct connection *c) {
    char user[NAME_BYTES_MAX];
    size_t size = heliograph_user(user, c->id);
    hello(c);
    uint8_t *o = heliograph_frame(c, CLIENT_LOGIN, protobuf_bytes_size(LOGIN_APP_ID, sizeof app - 1)
        + protobuf_bytes_size(LOGIN_USER_ID, size)
        + protobuf_integer_size(LOGIN_HEARTBEAT_INTERVAL_S, heartbeat_interval()));
    o = protobuf_bytes(o, LOGIN_APP_ID, app, sizeof app - 1);
    o = protobuf_bytes(o, LOGIN_USER_ID, user, size);
    protobuf_integer(o, LOGIN_HEARTBEAT_INTERVAL_S, heartbeat_interval());
}

static void subscribe(struct connection *c, uint32_t channel) {
    char name[NAME_BYTES_MAX];
    size_t size = channel_name(name, '-', channel);
    int features = FEATURE_MESSAGE | (options.presence ? FEATURE_PRESENCE : 0);
    uint8_t *o = heliograph_frame(c, CLIENT_SUBSCRIBE, protobuf_bytes_size(SUBSCRIBE_CHANNEL, size)
        + protobuf_integer_size(SUBSCRIBE_FEATURES, features));
    o = protobuf_bytes(o, SUBSCRIBE_CHANNEL, name, size);
    protobuf_integer(o, SUBSCRIBE_FEATURES, features);
}

/* The message's type is binary, which is 0 and therefore left out. */
static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX];
    size_t name_size = channel_name(name, '-', channel);
    uint8_t *o = heliograph_frame(c, CLIENT_PUBLISH, protobuf_integer_size(PUBLISH_CHANNEL_TYPE, CHANNEL_TYPE_MESSAGE)
        + protobuf_bytes_size(PUBLISH_CHANNEL, name_size) + protobuf_bytes_size(PUBLISH_PAYLOAD, size));
    o = protobuf_integer(o, PUBLISH_CHANNEL_TYPE, CHANNEL_TYPE_MESSAGE);
    o = protobuf_bytes(o, PUBLISH_CHANNEL, name, name_size);
    protobuf_bytes(o, PUBLISH_PAYLOAD, payload, size);
}

/* Writes a Heartbeat. */
void heliograph_ping(struct connection *c) { heliograph_frame(c, CLIENT_HEARTBEAT, 0); }

/* Finds a field of bytes in a message. Returns false if there is none. */
static bool find(struct protobuf_field message, int number, struct protobuf_field *found) {
    struct protobuf_reader reader = { message.bytes, message.bytes + message.size, false };
    while (protobuf_next(&reader, found))
        if (found->number == number && found->bytes) return true;
    return false;
}

/* Ends the run with the refusal's code and reason: what the edge refuses must never pass for a slow run. */
static int refused(struct connection *c, const char *what, struct protobuf_field refusal) {
    struct protobuf_reader reader = { refusal.bytes, refusal.bytes + refusal.size, false };
    struct protobuf_field field, reason = { .size = 0 };
    long long code = 0;
    while (protobuf_next(&reader, &field)) {
        if (field.number == REFUSAL_CODE) code = (long long)field.value;
        if (field.number == REFUSAL_REASON) reason = field;
    }
    return connection_refused(c, "%s %lld: %.*s", what, code, (int)reason.size,
                              reason.bytes ? (const char *)reason.bytes : "");
}

/* A publication that has no message is another event (11), which the generator didn't ask for. */
static void publication(struct connection *c, struct protobuf_field body) {
    struct protobuf_field message, payload;
    if (!find(body, PUBLICATION_MESSAGE, &message)) return;
    if (find(message, MESSAGE_PAYLOAD, &payload)) connection_message(c, payload.bytes, payload.size);
    else connection_message(c, message.bytes, 0);
}

/* Reports one body of a ServerFrame. Returns -1 if the run can't go on. */
static int report_body(struct connection *c, struct protobuf_field body, const struct heliograph_steps *steps) {
    switch (body.number) {
    case SERVER_PUBLICATION: publication(c, body); break;
    case SERVER_PUBLISHED: connection_acknowledged(); break;
    case SERVER_HEARTBEAT_ACK: connection_pong(); break;
    case SERVER_LOGGED_IN: steps->logged_in(c); break;
    case SERVER_SUBSCRIBED: steps->subscribed(c); break;
    case SERVER_DONE: steps->done(c); break;
    case SERVER_ERROR: return refused(c, "Error", body);
    case SERVER_DISCONNECT: return refused(c, "Disconnect", body);
    case SERVER_GAP: return connection_refused(c, "Gap: the server lost messages of a channel");
    }
    return 0;
}

static int parse_frame(
    struct connection *c, const uint8_t *bytes, size_t size, const struct heliograph_steps *steps
) {
    struct protobuf_reader reader = { bytes, bytes + size, false };
    struct protobuf_field field;
    while (protobuf_next(&reader, &field))
        if (field.bytes && report_body(c, field, steps) < 0) return -1;
    return reader.is_broken ? connection_refused(c, "a frame of %zu bytes is no protobuf message", size) : 0;
}

/* Takes whole frames; `steps` says what comes after an answer. The contract is that of adapter.h. */
ssize_t heliograph_parse(
    struct connection *c, const uint8_t *bytes, size_t count, const struct heliograph_steps *steps
) {
    size_t at = 0;
    while (count - at >= 4) {
        const uint8_t *frame = bytes + at;
        uint32_t size = (uint32_t)frame[0] << 24 | (uint32_t)frame[1] << 16 | (uint32_t)frame[2] << 8 | frame[3];
        if (count - at - 4 < size) break;
        if (parse_frame(c, frame + 4, size, steps) < 0) return -1;
        at += 4 + (size_t)size;
    }
    return (ssize_t)at;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    static const struct heliograph_steps steps = { connection_logged_in, connection_subscribed, connection_subscribed };
    return heliograph_parse(c, bytes, count, &steps);
}

const struct adapter adapter_heliograph = {
    .name = "heliograph", .log_in = heliograph_log_in, .subscribe = subscribe, .publish = publish,
    .ping = heliograph_ping, .parse = parse,
};
