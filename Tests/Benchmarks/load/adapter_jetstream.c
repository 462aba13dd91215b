/* JetStream of NATS. One stream, LOG, keeps in memory what is published below "log."; servers.py has made it. A publish is
 * acknowledged when the stream has it. A subscriber has a consumer of its own, which is pushed the messages of one channel
 * in their order and acknowledges none. */
#define _GNU_SOURCE
#include "nats.h"
#include <stdio.h>
#include <string.h>

enum { SUBJECT_BYTES_MAX = NAME_BYTES_MAX + 24, CONSUMER_BYTES_MAX = 512 };
/* The numbers of a connection's subscriptions: to what its consumer is pushed, and to answers. */
enum { PUSHED = '1', ANSWERS = '2' };
/* A state of a connection, beside those of nats.h. */
enum { HEARS_ANSWERS = NATS_GREETED + 1 };

static int subject_of(char into[SUBJECT_BYTES_MAX], uint32_t channel) {
    memcpy(into, "log.", 4);
    return 4 + (int)channel_name(into + 4, '.', channel);
}

/* Subscribers are answered when they ask for their consumer, publishers with each publish. */
static void hear_answers(struct connection *c) {
    char request[48];
    c->adapter_state = HEARS_ANSWERS;
    connection_write(c, request, (size_t)snprintf(request, sizeof request, "SUB a.%u %c\r\n", c->id, ANSWERS));
}

/* Makes the consumer, which begins with what is published from then on. */
static void subscribe(struct connection *c, uint32_t channel) {
    char subject[SUBJECT_BYTES_MAX], request[48], consumer[CONSUMER_BYTES_MAX];
    hear_answers(c);
    connection_write(c, request, (size_t)snprintf(request, sizeof request, "SUB d.%u %c\r\n", c->id, PUSHED));
    int size = subject_of(subject, channel);
    int count = snprintf(consumer, sizeof consumer, "{\"stream_name\":\"LOG\",\"config\":{\"deliver_subject\":\"d.%u\","
        "\"deliver_policy\":\"new\",\"ack_policy\":\"none\",\"replay_policy\":\"instant\",\"mem_storage\":true,"
        "\"filter_subject\":\"%.*s\"}}", c->id, size, subject);
    size = snprintf(subject, sizeof subject, "$JS.API.CONSUMER.CREATE.LOG a.%u", c->id);
    nats_publish(c, subject, size, consumer, (size_t)count);
}

static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char subject[SUBJECT_BYTES_MAX];
    if (c->adapter_state != HEARS_ANSWERS) hear_answers(c);
    int subject_size = subject_of(subject, channel);
    subject_size += snprintf(subject + subject_size, sizeof subject - (size_t)subject_size, " a.%u", c->id);
    nats_publish(c, subject, subject_size, payload, size);
}

static int answered(struct connection *c, const char *text, size_t size) {
    if (memmem(text, size, "\"error\"", 7)) return connection_refused(c, "%.*s", (int)size, text);
    if (c->state == SUBSCRIBING) connection_subscribed(c);
    else connection_acknowledged();
    return 0;
}

static int received(struct connection *c, char sid, const uint8_t *payload, size_t size) {
    if (sid == ANSWERS) return answered(c, (const char *)payload, size);
    connection_message(c, payload, size);
    return 0;
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) { return nats_parse(c, bytes, count, received); }

const struct adapter adapter_jetstream = {
    .name = "jetstream", .greets_before_tls = true,
    .log_in = nats_log_in, .subscribe = subscribe, .publish = publish, .ping = nats_ping, .parse = parse,
};
