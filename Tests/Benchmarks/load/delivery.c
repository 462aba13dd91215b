#include "delivery.h"
#include "adapter.h"
#include "loop.h"
#include "run.h"
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x48454c49, DRAIN_SILENCE_SECONDS = 3 };

struct header { uint32_t magic, channel, publisher, reserved; uint64_t sequence, due_ns; };
_Static_assert(sizeof(struct header) == MESSAGE_HEADER_BYTES, "the header has no padding");

struct crowd crowd;
struct histogram *delivery_times;

/* Makes the crowd: connections that aren't open yet. */
void crowd_make(uint32_t channels, uint32_t subscribers_each, uint32_t publishers_each) {
    crowd.subscribers_each = subscribers_each;
    crowd.publishers_each = publishers_each;
    crowd.subscriber_count = channels * subscribers_each;
    crowd.publisher_count = channels * publishers_each;
    crowd.subscribers = calloc(crowd.subscriber_count, sizeof *crowd.subscribers);
    crowd.publishers = calloc(crowd.publisher_count, sizeof *crowd.publishers);
    crowd.progressed = calloc(crowd.publisher_count, sizeof *crowd.progressed);
    for (uint32_t i = 0; i < crowd.subscriber_count; i++) {
        struct subscriber *s = &crowd.subscribers[i];
        s->channel = i / subscribers_each;
        s->expected = calloc(publishers_each, sizeof *s->expected);
        s->connection = connection_new(s->channel, s);
    }
    for (uint32_t i = 0; i < crowd.publisher_count; i++) {
        struct publisher *p = &crowd.publishers[i];
        p->channel = i / publishers_each;
        p->place = i % publishers_each;
        p->connection = connection_new(p->channel, NULL);
    }
}

/* Opens the connections of all subscribers. */
void crowd_connect_subscribers(void) {
    struct connection **list = calloc(crowd.subscriber_count, sizeof *list);
    for (uint32_t i = 0; i < crowd.subscriber_count; i++) list[i] = crowd.subscribers[i].connection;
    loop_connect(list, crowd.subscriber_count);
    free(list);
}

/* Opens the connections of all publishers. */
void crowd_connect_publishers(void) {
    struct connection **list = calloc(crowd.publisher_count, sizeof *list);
    for (uint32_t i = 0; i < crowd.publisher_count; i++) list[i] = crowd.publishers[i].connection;
    loop_connect(list, crowd.publisher_count);
    free(list);
}

/* Has arrivals counted, for windows of this size. Call it before the first message. */
void crowd_count_arrivals(uint32_t window) {
    uint32_t size = 1;
    while (size < window) size *= 2;
    crowd.ring_mask = size - 1;
    for (uint32_t i = 0; i < crowd.publisher_count; i++)
        crowd.publishers[i].arrivals = calloc(size, sizeof *crowd.publishers[i].arrivals);
}

/* Empties the list of those who progressed. */
void crowd_forget_progress(void) {
    for (uint32_t i = 0; i < crowd.progressed_count; i++) crowd.progressed[i]->is_listed = false;
    crowd.progressed_count = 0;
}

/* Publishes the next message of a publisher. `due_ns` is when it should be sent, and 0 if nobody asks. */
void delivery_publish(struct publisher *p, uint64_t due_ns) {
    static uint8_t *payload;
    if (!payload) {
        payload = malloc(options.payload);
        memset(payload, 'x', options.payload);
    }
    struct header header = { MAGIC, p->channel, p->place, 0, p->next++, due_ns };
    memcpy(payload, &header, sizeof header);
    options.adapter->publish(p->connection, p->channel, payload, options.payload);
    counters.published++;
}

/* Notes that one more subscriber has the message, and lists the publisher when it was the last one. */
static void count_arrival(struct publisher *p, uint64_t sequence) {
    uint16_t *arrivals = &p->arrivals[sequence & crowd.ring_mask];
    if (++*arrivals < crowd.subscribers_each) return;
    *arrivals = 0;
    p->completed = sequence + 1;
    if (p->is_listed) return;
    p->is_listed = true;
    crowd.progressed[crowd.progressed_count++] = p;
}

/* A subscriber received this. */
void delivery_received(struct subscriber *s, const uint8_t *payload, size_t size) {
    struct header header;
    if (!s || size != options.payload) { counters.foreign++; return; }
    memcpy(&header, payload, sizeof header);
    if (header.magic != MAGIC || header.channel != s->channel || header.publisher >= crowd.publishers_each) {
        counters.foreign++;
        return;
    }
    counters.delivered++;
    uint64_t *expected = &s->expected[header.publisher];
    if (header.sequence < *expected) {
        counters.repeats++;
    } else {
        counters.gaps += header.sequence - *expected;
        *expected = header.sequence + 1;
    }
    if (delivery_times) histogram_add(delivery_times, received_ns > header.due_ns ? received_ns - header.due_ns : 0);
    if (!crowd.publishers) return;
    struct publisher *p = &crowd.publishers[header.channel * crowd.publishers_each + header.publisher];
    if (p->arrivals) count_arrival(p, header.sequence);
}

/* Says how many deliveries there must be if nothing is lost. */
uint64_t delivery_expected(void) { return counters.published * crowd.subscribers_each; }

/* Turns the loop until everything that was published has arrived, or nothing more comes for some seconds. */
void delivery_drain(void) {
    uint64_t delivered = counters.delivered, progress_ns = now_ns();
    while (!run_failure() && counters.delivered < delivery_expected()) {
        loop_turn(seconds_ns(0.01));
        uint64_t now = now_ns();
        if (counters.delivered != delivered) {
            delivered = counters.delivered;
            progress_ns = now;
        } else if (now - progress_ns > seconds_ns(DRAIN_SILENCE_SECONDS)) {
            return;
        }
    }
}
