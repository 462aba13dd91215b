/* Redis Streams, each channel one: a publish is an XADD, which is answered with the id of the entry, and a subscriber always
 * waits in an XREAD from the last id that it has seen. A stream keeps its last 10,000 entries or so.
 *
 * A subscriber reads from the beginning of its channel, whose name is new in each run, so that nothing depends on whether its
 * first XREAD or a publish comes first. A PING before it says when it is there. */
#include "redis.h"
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 5 };

/* Asks for what comes behind the entry with this id, and waits for it. */
static void read_behind(struct connection *c, const char *id, size_t id_size) {
    char name[NAME_BYTES_MAX], request[NAME_BYTES_MAX + 128];
    int size = (int)channel_name(name, ':', c->channel);
    int count = snprintf(request, sizeof request,
        "*6\r\n$5\r\nXREAD\r\n$5\r\nBLOCK\r\n$1\r\n0\r\n$7\r\nSTREAMS\r\n$%d\r\n%.*s\r\n$%zu\r\n%.*s\r\n",
        size, size, name, id_size, (int)id_size, id);
    connection_write(c, request, (size_t)count);
}

static void subscribe(struct connection *c, uint32_t channel) {
    (void)channel;
    redis_ping(c);
    read_behind(c, "0", 1);
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX], head[NAME_BYTES_MAX + 128];
    int name_size = (int)channel_name(name, ':', channel);
    int count = snprintf(head, sizeof head,
        "*8\r\n$4\r\nXADD\r\n$%d\r\n%.*s\r\n$6\r\nMAXLEN\r\n$1\r\n~\r\n$5\r\n10000\r\n$1\r\n*\r\n$1\r\nm\r\n$%zu\r\n",
        name_size, name_size, name, size);
    uint8_t *o = connection_reserve(c, (size_t)count + size + 2);
    memcpy(o, head, (size_t)count);
    memcpy(o + count, payload, size);
    memcpy(o + count + size, "\r\n", 2);
}

struct text { const uint8_t *bytes; size_t size; };

/* Takes the text at `at`, which moves behind it. */
static struct text take_text(const uint8_t *bytes, size_t *at) {
    struct text text;
    size_t line = redis_number(bytes + *at, SIZE_MAX, &text.size);
    text.bytes = bytes + *at + line;
    *at += line + text.size + 2;
    return text;
}

/* Takes the head of an array, and returns how many elements follow. */
static size_t take_head(const uint8_t *bytes, size_t *at) {
    size_t elements;
    *at += redis_number(bytes + *at, SIZE_MAX, &elements);
    return elements;
}

/* Returns the bytes of a whole reply of arrays and texts, 0 if it isn't complete, and -1 if it isn't what is expected. */
static ssize_t whole(struct connection *c, const uint8_t *bytes, size_t count, int depth) {
    size_t value, at = count ? redis_number(bytes, count, &value) : 0;
    if (!at) return 0;
    if (bytes[0] == '$') return count - at < value + 2 ? 0 : (ssize_t)(at + value + 2);
    if (bytes[0] != '*' || depth == DEPTH_MAX) return connection_refused(c, "a reply with %c in it", bytes[0]);
    for (size_t i = 0; i < value; i++) {
        ssize_t taken = whole(c, bytes + at, count - at, depth + 1);
        if (taken <= 0) return taken;
        at += (size_t)taken;
    }
    return (ssize_t)at;
}

/* What an XREAD has brought: one stream, of which the name and a list of entries, and of each the id and a list of one field
 * and its value. */
static void received(struct connection *c, const uint8_t *bytes) {
    size_t at = 0;
    struct text id = { 0 };
    take_head(bytes, &at);
    take_head(bytes, &at);
    take_text(bytes, &at);
    for (size_t entries = take_head(bytes, &at); entries; entries--) {
        take_head(bytes, &at);
        id = take_text(bytes, &at);
        take_head(bytes, &at);
        take_text(bytes, &at);
        struct text payload = take_text(bytes, &at);
        connection_message(c, payload.bytes, payload.size);
    }
    read_behind(c, (const char *)id.bytes, id.size);
}

/* One reply. Returns the bytes taken, 0 if it isn't complete, and -1 after a refusal. */
static ssize_t parse_reply(struct connection *c, const uint8_t *bytes, size_t count) {
    if (c->state == SUBSCRIBING && bytes[0] == '+') {
        const uint8_t *newline = memchr(bytes, '\n', count);
        if (newline) connection_subscribed(c);
        return newline ? newline - bytes + 1 : 0;
    }
    if (bytes[0] != '*' && bytes[0] != '$') return redis_line(c, bytes, count);
    ssize_t size = whole(c, bytes, count, 0);
    if (size <= 0) return size;
    if (bytes[0] == '*') received(c, bytes);
    else connection_acknowledged();
    return size;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (at < count) {
        ssize_t taken = parse_reply(c, bytes + at, count - at);
        if (taken < 0) return -1;
        if (taken == 0) break;
        at += (size_t)taken;
    }
    return (ssize_t)at;
}

const struct adapter adapter_streams = {
    .name = "streams", .log_in = redis_log_in, .subscribe = subscribe, .publish = publish, .ping = redis_ping, .parse = parse,
};
