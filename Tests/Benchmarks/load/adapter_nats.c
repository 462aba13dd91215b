/* NATS's client protocol, which is text. The server greets with INFO in clear text, and TLS begins behind that. A login
 * is CONNECT and a PING, and both a login and a subscription count when the PONG behind them arrives. */
#include "nats.h"
#include <stdio.h>
#include <string.h>

void nats_log_in(struct connection *c) {
    if (!c->adapter_state) return;
    char request[160];
    int count = snprintf(request, sizeof request, "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"c\","
        "\"version\":\"1\",\"protocol\":1,\"echo\":true,\"name\":\"u%u\"}\r\nPING\r\n", c->id);
    connection_write(c, request, (size_t)count);
}

/* The server's INFO: behind it comes TLS or the login. A later INFO, about other servers, changes nothing here. */
static void greeted(struct connection *c) {
    if (c->adapter_state) return;
    c->adapter_state = NATS_GREETED;
    if (connection_lacks_tls(c)) connection_start_tls(c);
    else nats_log_in(c);
}

static void subscribe(struct connection *c, uint32_t channel) {
    char name[NAME_BYTES_MAX], request[NAME_BYTES_MAX + 32];
    int size = (int)channel_name(name, '.', channel);
    int count = snprintf(request, sizeof request, "SUB %.*s 1\r\nPING\r\n", size, name);
    connection_write(c, request, (size_t)count);
}

void nats_publish(struct connection *c, const char *subject, int subject_size, const void *payload, size_t size) {
    char head[2 * NAME_BYTES_MAX];
    int count = snprintf(head, sizeof head, "PUB %.*s %zu\r\n", subject_size, subject, size);
    uint8_t *o = connection_reserve(c, (size_t)count + size + 2);
    memcpy(o, head, (size_t)count);
    memcpy(o + count, payload, size);
    memcpy(o + count + size, "\r\n", 2);
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX];
    nats_publish(c, name, (int)channel_name(name, '.', channel), payload, size);
}

void nats_ping(struct connection *c) { connection_write(c, "PING\r\n", 6); }

/* MSG subject sid [reply] size, and behind that line the payload. Returns the bytes taken, 0 if it isn't complete, and -1
 * after a refusal. */
static ssize_t parse_message(struct connection *c, const uint8_t *bytes, size_t count, size_t line, nats_message message) {
    size_t size = 0, start = line - 2;
    while (start && bytes[start - 1] != ' ') start--;
    for (size_t i = start; i < line - 2; i++) size = size * 10 + (size_t)(bytes[i] - '0');
    if (count - line < size + 2) return 0;
    const uint8_t *sid = memchr(bytes + 4, ' ', line - 4);
    return message(c, sid[1], bytes + line, size) ? -1 : (ssize_t)(line + size + 2);
}

static void pong(struct connection *c) {
    switch (c->state) {
    case LOGGING_IN: connection_logged_in(c); break;
    case SUBSCRIBING: connection_subscribed(c); break;
    default: connection_pong();
    }
}

/* One operation. Returns the bytes taken, 0 if it isn't complete. */
static ssize_t parse_operation(struct connection *c, const uint8_t *bytes, size_t count, nats_message message) {
    const uint8_t *newline = memchr(bytes, '\n', count);
    if (!newline) return 0;
    size_t line = (size_t)(newline - bytes) + 1;
    if (bytes[0] == 'M') return parse_message(c, bytes, count, line, message);
    if (!strncmp((const char *)bytes, "PING", 4)) connection_write(c, "PONG\r\n", 6);
    else if (!strncmp((const char *)bytes, "PONG", 4)) pong(c);
    else if (!strncmp((const char *)bytes, "INFO", 4)) greeted(c);
    else if (bytes[0] == '-') return connection_refused(c, "%.*s", (int)line - 2, (const char *)bytes);
    return (ssize_t)line;
}

ssize_t nats_parse(struct connection *c, const uint8_t *bytes, size_t count, nats_message message) {
    size_t at = 0;
    while (at < count) {
        ssize_t taken = parse_operation(c, bytes + at, count - at, message);
        if (taken < 0) return -1;
        if (taken == 0) break;
        at += (size_t)taken;
    }
    return (ssize_t)at;
}

static int received(struct connection *c, char sid, const uint8_t *payload, size_t size) {
    (void)sid;
    connection_message(c, payload, size);
    return 0;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) { return nats_parse(c, bytes, count, received); }

const struct adapter adapter_nats = {
    .name = "nats", .greets_before_tls = true,
    .log_in = nats_log_in, .subscribe = subscribe, .publish = publish, .ping = nats_ping, .parse = parse,
};
