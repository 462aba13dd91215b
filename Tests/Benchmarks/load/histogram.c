#include "histogram.h"

/* Returns the bucket of a duration: the first 128 are exact, the others are steps within a power of two. */
static unsigned bucket_of(uint64_t nanoseconds) {
    if (nanoseconds < HISTOGRAM_STEPS) return (unsigned)nanoseconds;
    int shift = 56 - __builtin_clzll(nanoseconds);
    return (unsigned)(shift + 1) * HISTOGRAM_STEPS + (unsigned)((nanoseconds >> shift) & (HISTOGRAM_STEPS - 1));
}

/* Returns the duration in the middle of a bucket, in nanoseconds. */
static double middle_of(unsigned bucket) {
    if (bucket < HISTOGRAM_STEPS) return bucket;
    int shift = (int)(bucket / HISTOGRAM_STEPS) - 1;
    uint64_t start = (uint64_t)(HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS) << shift;
    return (double)(start + ((1ull << shift) >> 1));
}

/* Counts one duration. */
void histogram_add(struct histogram *h, uint64_t nanoseconds) {
    h->buckets[bucket_of(nanoseconds)]++;
    h->count++;
    if (nanoseconds > h->largest_ns) h->largest_ns = nanoseconds;
}

/* Returns the duration in microseconds that this share of all durations doesn't exceed, and 0 if there are none. */
double histogram_quantile_us(const struct histogram *h, double share) {
    if (!h->count) return 0;
    uint64_t wanted = (uint64_t)(share * (double)h->count + 0.9999999), seen = 0;
    if (wanted < 1) wanted = 1;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        if ((seen += h->buckets[i]) >= wanted) return middle_of(i) / 1e3;
    return (double)h->largest_ns / 1e3;
}
