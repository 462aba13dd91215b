/* What all parts of one run share: the options, the counters, and whether the run has failed. The generator is one
 * thread, so these are plain variables. */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct options {
    const struct adapter *adapter;
    const char *workload;
    const char *prefix;     /* The names of channels and users begin with it. */
    int port;               /* The server listens there on 127.0.0.1. */
    bool tls;
    uint32_t channels;      /* The shape of closed and open: so many channels … */
    uint32_t subscribers;   /* … each with so many subscribers … */
    uint32_t publishers;    /* … and so many publishers. */
    uint32_t window;        /* closed: messages on their way in one channel. */
    uint32_t payload;       /* Bytes of a message. */
    uint32_t sessions;      /* idle, logins and stay: so many sessions. */
    uint32_t first;         /* The number of the first connection, of which its user's name is made. */
    uint32_t heartbeat;     /* stay: seconds between two heartbeats of a session; 0 means none. */
    uint32_t crowd;         /* stay: so many sessions are in channel 0. */
    uint32_t at_once;       /* Connections that are being set up at one time. */
    bool together;          /* logins: all to one channel … */
    bool no_channel;        /* … or to none. */
    bool presence;          /* logins to Heliograph: subscribers also follow who comes and goes. */
    double rate;            /* open: deliveries per second over all channels. */
    double warm_up, seconds, quiet;
};
extern struct options options;

struct counters {
    uint64_t published, delivered, acknowledged, pongs;
    uint64_t reads;         /* Successful reads from sockets. */
    uint64_t gaps;          /* Messages that a subscriber missed. */
    uint64_t repeats;       /* Messages that came again, or behind a newer one of the same publisher. */
    uint64_t foreign;       /* Messages that nobody of this run sent to that channel. */
    uint64_t ended;         /* Connections that ended before the run did. */
};
extern struct counters counters;

/* Ends the run with an explanation. Only the first explanation is kept, because the others follow from it. */
void run_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the explanation, or NULL while all is well. */
const char *run_failure(void);

/* Nanoseconds of the monotonic clock. */
static inline uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t seconds_ns(double seconds) { return (uint64_t)(seconds * 1e9); }

#endif
