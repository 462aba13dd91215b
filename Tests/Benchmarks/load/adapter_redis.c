/* Redis pub/sub in RESP2. A login is CLIENT SETNAME, so that logging in is a round trip here as it is elsewhere. */
#include "redis.h"
#include <stdio.h>
#include <string.h>

enum { ELEMENTS_MAX = 3 };

void redis_log_in(struct connection *c) {
    char user[24], request[96];
    int size = snprintf(user, sizeof user, "u%u", c->id);
    int count = snprintf(request, sizeof request, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$%d\r\n%s\r\n", size, user);
    connection_write(c, request, (size_t)count);
}

static void subscribe(struct connection *c, uint32_t channel) {
    char name[NAME_BYTES_MAX], request[NAME_BYTES_MAX + 64];
    int size = (int)channel_name(name, ':', channel);
    int count = snprintf(request, sizeof request, "*2\r\n$9\r\nSUBSCRIBE\r\n$%d\r\n%.*s\r\n", size, size, name);
    connection_write(c, request, (size_t)count);
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX], head[NAME_BYTES_MAX + 64];
    int name_size = (int)channel_name(name, ':', channel);
    int count = snprintf(head, sizeof head, "*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%.*s\r\n$%zu\r\n", name_size, name_size, name, size);
    uint8_t *o = connection_reserve(c, (size_t)count + size + 2);
    memcpy(o, head, (size_t)count);
    memcpy(o + count, payload, size);
    memcpy(o + count + size, "\r\n", 2);
}

void redis_ping(struct connection *c) { connection_write(c, "*1\r\n$4\r\nPING\r\n", 14); }

size_t redis_number(const uint8_t *line, size_t count, size_t *value) {
    *value = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        if (line[i] == '\r') return i + 2;
        *value = *value * 10 + (size_t)(line[i] - '0');
    }
    return 0;
}

struct element { const uint8_t *bytes; size_t size; };

/* Reads an array of texts and numbers. Returns its bytes, 0 if it isn't complete, -1 if it isn't what is expected. */
static ssize_t read_array(struct connection *c, const uint8_t *bytes, size_t count, struct element *elements, size_t *found) {
    size_t at = redis_number(bytes, count, found);
    if (!at) return 0;
    if (*found > ELEMENTS_MAX) return connection_refused(c, "an array of %zu elements", *found);
    for (size_t i = 0; i < *found; i++) {
        size_t value, line = at < count ? redis_number(bytes + at, count - at, &value) : 0;
        if (!line) return 0;
        if (bytes[at] == ':') {
            elements[i] = (struct element){ bytes + at, 0 };
        } else if (bytes[at] == '$') {
            if (count - at - line < value + 2) return 0;
            elements[i] = (struct element){ bytes + at + line, value };
            line += value + 2;
        } else {
            return connection_refused(c, "an element that begins with %c", bytes[at]);
        }
        at += line;
    }
    return (ssize_t)at;
}

static bool is(struct element e, const char *text) { return e.size == strlen(text) && !memcmp(e.bytes, text, e.size); }

static ssize_t parse_array(struct connection *c, const uint8_t *bytes, size_t count) {
    struct element elements[ELEMENTS_MAX];
    size_t found;
    ssize_t taken = read_array(c, bytes, count, elements, &found);
    if (taken <= 0) return taken;
    if (found == 3 && is(elements[0], "message")) connection_message(c, elements[2].bytes, elements[2].size);
    else if (found == 3 && is(elements[0], "subscribe")) connection_subscribed(c);
    else if (found == 2 && is(elements[0], "pong")) connection_pong();
    return taken;
}

ssize_t redis_line(struct connection *c, const uint8_t *bytes, size_t count) {
    const uint8_t *newline = memchr(bytes, '\n', count);
    if (!newline) return 0;
    ssize_t size = newline - bytes + 1;
    if (bytes[0] == ':') connection_acknowledged();
    else if (bytes[0] == '+') connection_logged_in(c);
    else return connection_refused(c, "%.*s", (int)size - 2, (const char *)bytes);
    return size;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (at < count) {
        ssize_t taken = (bytes[at] == '*' ? parse_array : redis_line)(c, bytes + at, count - at);
        if (taken < 0) return -1;
        if (taken == 0) break;
        at += (size_t)taken;
    }
    return (ssize_t)at;
}

const struct adapter adapter_redis = {
    .name = "redis", .log_in = redis_log_in, .subscribe = subscribe, .publish = publish, .ping = redis_ping, .parse = parse,
};
