/* Durations in log-linear buckets: 128 to each power of two, so a quantile is wrong by less than 0.8 %. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_STEPS = 128, HISTOGRAM_BUCKETS = 58 * HISTOGRAM_STEPS };

struct histogram {
    uint64_t count, largest_ns;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Counts one duration. */
void histogram_add(struct histogram *h, uint64_t nanoseconds);

/* Returns the duration in microseconds that this share of all durations doesn't exceed, and 0 if there are none. */
double histogram_quantile_us(const struct histogram *h, double share);

#endif
