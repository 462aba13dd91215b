/* Who publishes and who subscribes, and whether every message arrives once and in order.
 *
 * Every message begins with a header: its channel, its publisher and a sequence number. A subscriber expects the next
 * number of each publisher of its channel, so that a gap, a repetition and a change of order are all seen. */
#ifndef DELIVERY_H
#define DELIVERY_H

#include "connection.h"
#include "histogram.h"
#include <stdbool.h>
#include <stdint.h>

enum { MESSAGE_HEADER_BYTES = 32 };

struct subscriber {
    struct connection *connection;
    uint32_t channel;
    uint64_t *expected;     /* The next sequence number of each publisher of the channel. */
};

struct publisher {
    struct connection *connection;
    uint32_t channel, place;    /* Its place among the publishers of the channel. */
    uint64_t next;              /* The sequence number of its next message. */
    uint64_t completed;         /* All messages before this one have reached every subscriber. */
    uint16_t *arrivals;         /* In a ring: how many subscribers have the message. NULL if nobody asks. */
    bool is_listed;
};

/* Channels that all have as many subscribers, and as many publishers. */
struct crowd {
    uint32_t subscriber_count, publisher_count;     /* Over all channels. */
    uint32_t subscribers_each, publishers_each;     /* Of one channel. */
    struct subscriber *subscribers;
    struct publisher *publishers;                   /* Those of one channel stand together. */

    /* Publishers of which a message is complete since the list was last emptied. */
    struct publisher **progressed;
    uint32_t progressed_count;
    uint32_t ring_mask;
};
extern struct crowd crowd;

/* While this isn't NULL, the time from a message's schedule to its arrival is counted here. */
extern struct histogram *delivery_times;

/* Makes the crowd: connections that aren't open yet. */
void crowd_make(uint32_t channels, uint32_t subscribers_each, uint32_t publishers_each);

/* Opens the connections of all subscribers, or of all publishers. Subscribers come first, so that nothing is published
 * to nobody. */
void crowd_connect_subscribers(void);
void crowd_connect_publishers(void);

/* Has arrivals counted, for windows of this size. Call it before the first message. */
void crowd_count_arrivals(uint32_t window);

/* Empties the list of those who progressed. */
void crowd_forget_progress(void);

/* Publishes the next message of a publisher. `due_ns` is when it should be sent, and 0 if nobody asks. */
void delivery_publish(struct publisher *p, uint64_t due_ns);

/* A subscriber received this. */
void delivery_received(struct subscriber *s, const uint8_t *payload, size_t size);

/* Says how many deliveries there must be if nothing is lost. */
uint64_t delivery_expected(void);

/* Turns the loop until everything that was published has arrived, or nothing more comes for some seconds. */
void delivery_drain(void);

#endif
