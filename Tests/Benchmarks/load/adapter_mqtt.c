/* MQTT 3.1.1 with quality of service 0: at most once, and nothing is acknowledged. */
#include "adapter.h"
#include "connection.h"
#include "name.h"
#include <stdio.h>
#include <string.h>

enum { CONNECT = 0x10, PUBLISH = 0x30, SUBSCRIBE = 0x82, PINGREQ = 0xC0 };
enum { TYPE_CONNACK = 2, TYPE_PUBLISH = 3, TYPE_SUBACK = 9, TYPE_PINGRESP = 13 };
enum { CLEAN_SESSION = 2, PROTOCOL_LEVEL = 4, KEEP_ALIVE_SECONDS = 1800, SUBACK_REFUSED = 0x80 };

static uint8_t *put_number(uint8_t *o, size_t number) {
    *o++ = (uint8_t)(number >> 8);
    *o++ = (uint8_t)number;
    return o;
}

static uint8_t *put_text(uint8_t *o, const char *text, size_t size) {
    o = put_number(o, size);
    memcpy(o, text, size);
    return o + size;
}

/* Reserves a packet whose body has `size` bytes, and returns where the body goes. */
static uint8_t *begin_packet(struct connection *c, uint8_t kind, size_t size) {
    uint8_t head[5] = { kind };
    size_t count = 1, rest = size;
    do {
        head[count] = rest & 127;
        if (rest >>= 7) head[count] |= 128;
        count++;
    } while (rest);
    uint8_t *o = connection_reserve(c, count + size);
    memcpy(o, head, count);
    return o + count;
}

static void log_in(struct connection *c) {
    char client[NAME_BYTES_MAX];
    size_t size = (size_t)snprintf(client, sizeof client, "%s-%u", options.prefix, c->id);
    uint8_t *o = begin_packet(c, CONNECT, 6 + 4 + 2 + size);
    o = put_text(o, "MQTT", 4);
    *o++ = PROTOCOL_LEVEL;
    *o++ = CLEAN_SESSION;
    o = put_number(o, KEEP_ALIVE_SECONDS);
    put_text(o, client, size);
}

static void subscribe(struct connection *c, uint32_t channel) {
    char topic[NAME_BYTES_MAX];
    size_t size = channel_name(topic, '/', channel);
    uint8_t *o = begin_packet(c, SUBSCRIBE, 2 + 2 + size + 1);
    o = put_text(put_number(o, 1), topic, size);
    *o = 0;
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char topic[NAME_BYTES_MAX];
    size_t topic_size = channel_name(topic, '/', channel);
    uint8_t *o = begin_packet(c, PUBLISH, 2 + topic_size + size);
    memcpy(put_text(o, topic, topic_size), payload, size);
}

static void ping(struct connection *c) { begin_packet(c, PINGREQ, 0); }

/* Reads the length of a packet's body, which stands in 1 to 4 bytes. Returns the bytes of the whole head, 0 if it isn't
 * complete. */
static size_t read_head(const uint8_t *bytes, size_t count, size_t *body) {
    *body = 0;
    for (size_t i = 1; i < count && i < 5; i++) {
        *body |= (size_t)(bytes[i] & 127) << 7 * (i - 1);
        if (bytes[i] < 128) return i + 1;
    }
    return 0;
}

/* Reports one packet. Returns -1 if the run can't go on. */
static int report_packet(struct connection *c, int type, const uint8_t *body, size_t size) {
    if (type == TYPE_PINGRESP) {
        connection_pong();
        return 0;
    }
    if (size < 2) return connection_refused(c, "a packet of type %d with %zu bytes", type, size);
    switch (type) {
    case TYPE_PUBLISH: {
        size_t topic = 2 + (size_t)(body[0] << 8 | body[1]);
        if (size < topic) return connection_refused(c, "a message that is shorter than its topic");
        connection_message(c, body + topic, size - topic);
        break;
    }
    case TYPE_CONNACK:
        if (body[1]) return connection_refused(c, "CONNACK with code %d", body[1]);
        connection_logged_in(c);
        break;
    case TYPE_SUBACK:
        if (body[size - 1] == SUBACK_REFUSED) return connection_refused(c, "the subscription was refused");
        connection_subscribed(c);
        break;
    }
    return 0;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (count - at >= 2) {
        size_t body, head = read_head(bytes + at, count - at, &body);
        if (!head || count - at - head < body) break;
        if (report_packet(c, bytes[at] >> 4, bytes + at + head, body) < 0) return -1;
        at += head + body;
    }
    return (ssize_t)at;
}

const struct adapter adapter_mqtt = {
    .name = "mqtt", .log_in = log_in, .subscribe = subscribe, .publish = publish, .ping = ping, .parse = parse,
};
