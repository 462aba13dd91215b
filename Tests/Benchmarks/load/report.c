#include "report.h"
#include "adapter.h"
#include "delivery.h"
#include <stdio.h>

/* Begins the line with what was measured. */
void report_begin(void) {
    printf("{\"workload\":\"%s\",\"adapter\":\"%s\",\"tls\":%s,\"payload\":%u", options.workload, options.adapter->name,
           options.tls ? "true" : "false", options.payload);
}

/* One whole number. */
void report_integer(const char *name, uint64_t value) { printf(",\"%s\":%llu", name, (unsigned long long)value); }

/* One number with decimal places. */
void report_real(const char *name, double value) { printf(",\"%s\":%.6g", name, value); }

static double per(double value, double count) { return count > 0 ? value / count : 0; }

/* What happened between two moments, and what it cost. */
void report_costs(const struct moment *from, const struct moment *to) {
    double seconds = (double)(to->at_ns - from->at_ns) / 1e9;
    double deliveries = (double)(to->counters.delivered - from->counters.delivered);
    double server = (double)(to->server_ns - from->server_ns) / 1e9;
    double generator = (double)(to->generator_ns - from->generator_ns) / 1e9;
    double others = to->busy_s - from->busy_s - server - generator + to->stolen_s - from->stolen_s;
    report_real("seconds", seconds);
    report_integer("deliveries", (uint64_t)deliveries);
    report_real("deliveries_per_s", per(deliveries, seconds));
    report_real("publishes_per_s", per((double)(to->counters.published - from->counters.published), seconds));
    report_real("server_cpu_s", server);
    if (deliveries > 0) report_real("server_us_per_delivery", server * 1e6 / deliveries);
    report_real("generator_cpu_s", generator);
    report_real("deliveries_per_read", per(deliveries, (double)(to->counters.reads - from->counters.reads)));
    report_real("others_cpu_s", others > 0 ? others : 0);
    report_integer("resident_kb", (uint64_t)to->resident_kb);
}

/* Quantiles in microseconds. */
void report_histogram(const char *name, const struct histogram *h) {
    printf(",\"%s\":{\"count\":%llu,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f}", name,
           (unsigned long long)h->count, histogram_quantile_us(h, 0.5), histogram_quantile_us(h, 0.9),
           histogram_quantile_us(h, 0.99), histogram_quantile_us(h, 0.999), (double)h->largest_ns / 1e3);
}

/* Writes a text with everything replaced that JSON wouldn't take. */
static void print_text(const char *text) {
    putchar('"');
    for (; *text; text++) putchar(*text == '"' || *text == '\\' || *text < ' ' ? '\'' : *text);
    putchar('"');
}

/* Ends the line with the delivery checks and with what went wrong, if anything did. */
void report_end(void) {
    uint64_t expected = delivery_expected();
    report_integer("lost", expected > counters.delivered ? expected - counters.delivered : 0);
    report_integer("gaps", counters.gaps);
    report_integer("repeats", counters.repeats);
    report_integer("foreign", counters.foreign);
    report_integer("ended", counters.ended);
    if (run_failure()) {
        fputs(",\"failure\":", stdout);
        print_text(run_failure());
    }
    puts("}");
    fflush(stdout);
}
