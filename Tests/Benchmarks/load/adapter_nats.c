/* NATS's client protocol, which is text. The server greets with INFO in clear text, and TLS begins behind that. A login
 * is CONNECT and a PING, and both a login and a subscription count when the PONG behind them arrives. */
#include "adapter.h"
#include "connection.h"
#include "name.h"
#include <stdio.h>
#include <string.h>

/* Is called when the connection stands, which is too early: the server's INFO comes first. greeted() goes on. */
static void log_in(struct connection *c) {
    if (!c->adapter_state) return;
    char request[160];
    int count = snprintf(request, sizeof request, "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"c\","
        "\"version\":\"1\",\"protocol\":1,\"echo\":true,\"name\":\"u%u\"}\r\nPING\r\n", c->id);
    connection_write(c, request, (size_t)count);
}

/* The server's INFO: behind it comes TLS or the login. A later INFO, about other servers, changes nothing here. */
static void greeted(struct connection *c) {
    if (c->adapter_state) return;
    c->adapter_state = 1;
    if (connection_lacks_tls(c)) connection_start_tls(c);
    else log_in(c);
}

static void subscribe(struct connection *c, uint32_t channel) {
    char name[NAME_BYTES_MAX], request[NAME_BYTES_MAX + 32];
    int size = (int)channel_name(name, '.', channel);
    int count = snprintf(request, sizeof request, "SUB %.*s 1\r\nPING\r\n", size, name);
    connection_write(c, request, (size_t)count);
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX], head[NAME_BYTES_MAX + 32];
    int name_size = (int)channel_name(name, '.', channel);
    int count = snprintf(head, sizeof head, "PUB %.*s %zu\r\n", name_size, name, size);
    uint8_t *o = connection_reserve(c, (size_t)count + size + 2);
    memcpy(o, head, (size_t)count);
    memcpy(o + count, payload, size);
    memcpy(o + count + size, "\r\n", 2);
}

static void ping(struct connection *c) { connection_write(c, "PING\r\n", 6); }

/* MSG subject sid [reply] size, and behind that line the payload. Returns the bytes taken, 0 if it isn't complete. */
static ssize_t parse_message(struct connection *c, const uint8_t *bytes, size_t count, size_t line) {
    size_t size = 0, start = line - 2;
    while (start && bytes[start - 1] != ' ') start--;
    for (size_t i = start; i < line - 2; i++) size = size * 10 + (size_t)(bytes[i] - '0');
    if (count - line < size + 2) return 0;
    connection_message(c, bytes + line, size);
    return (ssize_t)(line + size + 2);
}

static void pong(struct connection *c) {
    switch (c->state) {
    case LOGGING_IN: connection_logged_in(c); break;
    case SUBSCRIBING: connection_subscribed(c); break;
    default: connection_pong();
    }
}

/* One operation. Returns the bytes taken, 0 if it isn't complete. */
static ssize_t parse_operation(struct connection *c, const uint8_t *bytes, size_t count) {
    const uint8_t *newline = memchr(bytes, '\n', count);
    if (!newline) return 0;
    size_t line = (size_t)(newline - bytes) + 1;
    if (bytes[0] == 'M') return parse_message(c, bytes, count, line);
    if (!strncmp((const char *)bytes, "PING", 4)) connection_write(c, "PONG\r\n", 6);
    else if (!strncmp((const char *)bytes, "PONG", 4)) pong(c);
    else if (!strncmp((const char *)bytes, "INFO", 4)) greeted(c);
    else if (bytes[0] == '-') return connection_refused(c, "%.*s", (int)line - 2, (const char *)bytes);
    return (ssize_t)line;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (at < count) {
        ssize_t taken = parse_operation(c, bytes + at, count - at);
        if (taken < 0) return -1;
        if (taken == 0) break;
        at += (size_t)taken;
    }
    return (ssize_t)at;
}

const struct adapter adapter_nats = {
    .name = "nats", .greets_before_tls = true,
    .log_in = log_in, .subscribe = subscribe, .publish = publish, .ping = ping, .parse = parse,
};
