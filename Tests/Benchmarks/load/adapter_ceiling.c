/* The ceiling's protocol; ceiling.h describes it. */
#include "adapter.h"
#include "ceiling.h"
#include "connection.h"
#include "name.h"
#include <stdio.h>
#include <string.h>

/* Reserves a frame whose content has `size` bytes, and returns where the content goes. */
static uint8_t *begin_frame(struct connection *c, enum ceiling_frame kind, size_t size) {
    uint32_t length = (uint32_t)size + 1;
    uint8_t *o = connection_reserve(c, CEILING_LENGTH_BYTES + length);
    memcpy(o, &length, CEILING_LENGTH_BYTES);
    o[CEILING_LENGTH_BYTES] = (uint8_t)kind;
    return o + CEILING_LENGTH_BYTES + 1;
}

static void log_in(struct connection *c) {
    char user[24];
    size_t size = (size_t)snprintf(user, sizeof user, "u%u", c->id);
    memcpy(begin_frame(c, CEILING_LOG_IN, size), user, size);
}

static void subscribe(struct connection *c, uint32_t channel) {
    char name[NAME_BYTES_MAX];
    size_t size = channel_name(name, '.', channel);
    memcpy(begin_frame(c, CEILING_SUBSCRIBE, size), name, size);
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX];
    size_t name_size = channel_name(name, '.', channel);
    uint8_t *o = begin_frame(c, CEILING_PUBLISH, 1 + name_size + size);
    *o = (uint8_t)name_size;
    memcpy(o + 1, name, name_size);
    memcpy(o + 1 + name_size, payload, size);
}

static void ping(struct connection *c) { begin_frame(c, CEILING_PING, 0); }

/* Reports one frame. Returns -1 if the run can't go on. */
static int report_frame(struct connection *c, int kind, const uint8_t *content, size_t size) {
    switch (kind) {
    case CEILING_MESSAGE: connection_message(c, content + 1 + content[0], size - 1 - content[0]); break;
    case CEILING_LOGGED_IN: connection_logged_in(c); break;
    case CEILING_SUBSCRIBED: connection_subscribed(c); break;
    case CEILING_PONG: connection_pong(); break;
    default: return connection_refused(c, "a frame of kind %d", kind);
    }
    return 0;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (count - at > CEILING_LENGTH_BYTES) {
        const uint8_t *frame = bytes + at + CEILING_LENGTH_BYTES;
        uint32_t length;
        memcpy(&length, bytes + at, CEILING_LENGTH_BYTES);
        if (count - at - CEILING_LENGTH_BYTES < length) break;
        if (report_frame(c, frame[0], frame + 1, length - 1) < 0) return -1;
        at += CEILING_LENGTH_BYTES + length;
    }
    return (ssize_t)at;
}

const struct adapter adapter_ceiling = {
    .name = "ceiling", .log_in = log_in, .subscribe = subscribe, .publish = publish, .ping = ping, .parse = parse,
};
