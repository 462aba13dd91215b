/* The load generator's adapter for Heliograph's client protocol, written from protocol/README.md; the numbers in
 * brackets are its sections. A frame is a big-endian length of 4 bytes and one protobuf message (2).
 *
 * Hello and Login go out together (3). A subscription asks for messages only (5), because the peers have nothing like
 * presence either. Message channels never bring a publisher its own message, which suits the generator: its publishers
 * don't subscribe. Every publish is answered by Published, whether the generator waits for it or not. */
#include "lg.h"
#include "pbmini.h"
#include <stdio.h>
#include <stdlib.h>

enum { FRAME_REQUEST_ID = 1 };
enum { CLIENT_HELLO = 2, CLIENT_LOGIN = 3, CLIENT_HEARTBEAT = 5, CLIENT_SUBSCRIBE = 6, CLIENT_PUBLISH = 8 };
enum {
    SERVER_LOGGED_IN = 3, SERVER_HEARTBEAT_ACK = 5, SERVER_SUBSCRIBED = 6, SERVER_PUBLISHED = 8,
    SERVER_ERROR = 9, SERVER_PUBLICATION = 10, SERVER_GAP = 11, SERVER_DISCONNECT = 12
};
enum { HELLO_VERSION_MIN = 1, HELLO_VERSION_MAX = 2, PROTOCOL_VERSION = 1 };
enum { LOGIN_APP_ID = 1, LOGIN_USER_ID = 2, LOGIN_TOKEN = 3, LOGIN_HEARTBEAT_INTERVAL_S = 4 };
enum { SUBSCRIBE_CHANNEL = 1, SUBSCRIBE_FEATURES = 2, FEATURE_MESSAGE = 4 };
enum { PUBLISH_CHANNEL_TYPE = 1, PUBLISH_CHANNEL = 2, PUBLISH_PAYLOAD = 4, CHANNEL_TYPE_MESSAGE = 1 };
enum { PUBLICATION_MESSAGE = 6, MESSAGE_PAYLOAD = 2 };
enum { REFUSAL_CODE = 1, REFUSAL_REASON = 2 }; /* the same numbers in Error (9) and in Disconnect (10) */

/* A subscriber of the generator is silent except in w4, which sends its pings up to 40 s apart, so the interval that
 * ends silent sessions (7) has to be longer than a run. */
static const char *app = "dev";
static uint32_t heartbeat_interval_s = 120;

static int option(const char *key, const char *value) {
    if (!strcmp(key, "app")) { app = value; return 0; }
    if (!strcmp(key, "heartbeat")) { heartbeat_interval_s = (uint32_t)atoi(value); return 0; }
    return -1;
}

static uint64_t next_request_id(struct conn *c) { return ++c->a[0]; }

static size_t uint_size(int field, uint64_t value) { return (size_t)pb_vsize((uint64_t)field << 3) + pb_vsize(value); }

/* Reserves a whole ClientFrame whose body has `body` bytes and returns where the body goes. */
static uint8_t *frame(struct conn *c, int kind, size_t body) {
    uint64_t id = next_request_id(c);
    size_t n = uint_size(FRAME_REQUEST_ID, id) + pb_bytes_size(kind, body);
    uint8_t *o = lg_out(c, 4 + n);
    o[0] = n >> 24; o[1] = n >> 16; o[2] = n >> 8; o[3] = n;
    o = pb_uint(o + 4, FRAME_REQUEST_ID, id);
    return pb_hdr(o, kind, body);
}

/* The names' alphabet (5, Names) has no dot for channels. */
static size_t channel_name(char *into, size_t room, uint32_t channel) {
    return (size_t)snprintf(into, room, "%s-%u", lg_prefix(), channel);
}

static void login(struct conn *c) {
    uint8_t *o = frame(c, CLIENT_HELLO, uint_size(HELLO_VERSION_MIN, 1) + uint_size(HELLO_VERSION_MAX, 1));
    o = pb_uint(o, HELLO_VERSION_MIN, PROTOCOL_VERSION);
    pb_uint(o, HELLO_VERSION_MAX, PROTOCOL_VERSION);

    char user[65];
    size_t n = (size_t)snprintf(user, sizeof user, "%s-u%u", lg_prefix(), c->id), na = strlen(app);
    const char *token = lg_pass() ? lg_pass() : "";
    size_t nt = strlen(token);
    size_t body = pb_bytes_size(LOGIN_APP_ID, na) + pb_bytes_size(LOGIN_USER_ID, n)
        + (nt ? pb_bytes_size(LOGIN_TOKEN, nt) : 0)
        + uint_size(LOGIN_HEARTBEAT_INTERVAL_S, heartbeat_interval_s);
    o = frame(c, CLIENT_LOGIN, body);
    o = pb_bytes(o, LOGIN_APP_ID, app, na);
    o = pb_bytes(o, LOGIN_USER_ID, user, n);
    if (nt) o = pb_bytes(o, LOGIN_TOKEN, token, nt);
    pb_uint(o, LOGIN_HEARTBEAT_INTERVAL_S, heartbeat_interval_s);
}

static void subscribe(struct conn *c, uint32_t channel) {
    char name[128];
    size_t n = channel_name(name, sizeof name, channel);
    size_t body = pb_bytes_size(SUBSCRIBE_CHANNEL, n) + uint_size(SUBSCRIBE_FEATURES, FEATURE_MESSAGE);
    uint8_t *o = frame(c, CLIENT_SUBSCRIBE, body);
    o = pb_bytes(o, SUBSCRIBE_CHANNEL, name, n);
    pb_uint(o, SUBSCRIBE_FEATURES, FEATURE_MESSAGE);
}

/* The message type is binary, which is 0 and therefore left out (2). */
static void publish(struct conn *c, uint32_t channel, const void *payload, uint32_t length) {
    char name[128];
    size_t n = channel_name(name, sizeof name, channel);
    size_t body = uint_size(PUBLISH_CHANNEL_TYPE, CHANNEL_TYPE_MESSAGE) + pb_bytes_size(PUBLISH_CHANNEL, n)
        + pb_bytes_size(PUBLISH_PAYLOAD, length);
    uint8_t *o = frame(c, CLIENT_PUBLISH, body);
    o = pb_uint(o, PUBLISH_CHANNEL_TYPE, CHANNEL_TYPE_MESSAGE);
    o = pb_bytes(o, PUBLISH_CHANNEL, name, n);
    pb_bytes(o, PUBLISH_PAYLOAD, payload, length);
}

static void ping(struct conn *c) { frame(c, CLIENT_HEARTBEAT, 0); }

/* Finds a length-delimited field in a message: 1 and its bytes, or 0. */
static int find(const uint8_t *p, size_t n, int field, const uint8_t **data, size_t *length) {
    const uint8_t *end = p + n;
    uint64_t value;
    int number;
    while (pb_next(&p, end, &number, &value, data, length) > 0)
        if (number == field && *data) return 1;
    return 0;
}

/* What the edge refuses must never pass for a slow run: it is shown and ends the run. */
static int refused(struct conn *c, const char *what, const uint8_t *p, size_t n) {
    const uint8_t *start = p, *end = p + n, *data, *reason = (const uint8_t *)"";
    uint64_t value, code = 0;
    size_t length, nr = 0;
    int number;
    while (pb_next(&p, end, &number, &value, &data, &length) > 0)
        if (number == REFUSAL_CODE) code = value;
    if (!find(start, n, REFUSAL_REASON, &reason, &nr)) nr = 0;
    lg_error(c, "%s %lld: %.*s", what, (long long)code, (int)nr, reason);
    return -1;
}

static int publication(struct conn *c, const uint8_t *p, size_t n) {
    const uint8_t *message, *payload;
    size_t nm, np;
    if (!find(p, n, PUBLICATION_MESSAGE, &message, &nm)) return 0; /* another event of a later version (11) */
    if (!find(message, nm, MESSAGE_PAYLOAD, &payload, &np)) np = 0, payload = message;
    lg_message(c, payload, np);
    return 0;
}

/* One ServerFrame: 0, or -1 when the run can't go on. */
static int server_frame(struct conn *c, const uint8_t *p, size_t n) {
    const uint8_t *end = p + n, *data;
    uint64_t value;
    size_t length;
    int kind, status;
    while ((status = pb_next(&p, end, &kind, &value, &data, &length)) > 0) {
        if (!data) continue;
        switch (kind) {
        case SERVER_PUBLICATION: publication(c, data, length); break;
        case SERVER_PUBLISHED: lg_puback(c); break;
        case SERVER_HEARTBEAT_ACK: lg_pong(c); break;
        case SERVER_LOGGED_IN: lg_ready(c); break;
        case SERVER_SUBSCRIBED: lg_subscribed(c); break;
        case SERVER_ERROR: return refused(c, "Error", data, length);
        case SERVER_DISCONNECT: return refused(c, "Disconnect", data, length);
        case SERVER_GAP: lg_error(c, "Gap: the edge lost entries"); return -1;
        }
    }
    if (status < 0) lg_error(c, "a frame of %zu bytes that is no protobuf message", n);
    return status;
}

static ssize_t parse(struct conn *c, const uint8_t *p, size_t n) {
    size_t at = 0;
    while (n - at >= 4) {
        const uint8_t *h = p + at;
        uint32_t length = (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3];
        if (n - at - 4 < length) break;
        if (server_frame(c, h + 4, length) < 0) return -1;
        at += 4 + length;
    }
    return (ssize_t)at;
}

static const struct proto heliograph = {
    "heliograph", 7710, "app=dev heartbeat=120 (seconds); -a is the token", option, login, subscribe, publish, ping, parse,
};
LG_REGISTER(heliograph)
