/* The result: one line of JSON on standard output. README.md says what the names mean. */
#ifndef REPORT_H
#define REPORT_H

#include "account.h"
#include "histogram.h"

/* Begins the line with what was measured. */
void report_begin(void);

/* One number. */
void report_integer(const char *name, uint64_t value);
void report_real(const char *name, double value);

/* What happened between two moments, and what it cost. */
void report_costs(const struct moment *from, const struct moment *to);

/* Quantiles in microseconds. */
void report_histogram(const char *name, const struct histogram *h);

/* Ends the line with the delivery checks and with what went wrong, if anything did. */
void report_end(void);

#endif
