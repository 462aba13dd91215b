/* closed: as many messages are on their way as fit in the window. This is the throughput that a server reaches while
 * nobody waits behind a queue. */
#include "account.h"
#include "delivery.h"
#include "loop.h"
#include "report.h"
#include "run.h"
#include "workload.h"

enum { STALL_SECONDS = 5 };

/* The window of one publisher: the window of a channel is split over its publishers. */
static uint32_t window_each(void) {
    uint32_t each = options.window / options.publishers;
    return each ? each : 1;
}

/* Publishes until the window is full. */
static void fill_window(struct publisher *p, uint32_t window) {
    while (p->next - p->completed < window) delivery_publish(p, 0);
}

/* Fills the windows of those who progressed in this turn. */
static void fill_progressed(uint32_t window) {
    for (uint32_t i = 0; i < crowd.progressed_count; i++) fill_window(crowd.progressed[i], window);
    crowd_forget_progress();
}

/* Ends the run if nothing has been delivered for some seconds. */
static void watch_progress(uint64_t now) {
    static uint64_t delivered, since;
    if (!since || counters.delivered != delivered) {
        delivered = counters.delivered;
        since = now;
    } else if (now - since > seconds_ns(STALL_SECONDS)) {
        run_fail("nothing has been delivered for %d s: %llu of %llu", STALL_SECONDS,
                 (unsigned long long)counters.delivered, (unsigned long long)delivery_expected());
    }
}

/* Keeps all windows full for so many seconds. */
static void keep_full(double seconds, uint32_t window) {
    uint64_t end_ns = now_ns() + seconds_ns(seconds), now;
    while ((now = now_ns()) < end_ns && !run_failure()) {
        loop_turn(seconds_ns(0.02));
        fill_progressed(window);
        watch_progress(now);
    }
}

/* The workload; workload.h has its contract. */
void workload_closed(void) {
    uint32_t window = window_each();
    crowd_make(options.channels, options.subscribers, options.publishers);
    crowd_count_arrivals(window);
    crowd_connect_subscribers();
    crowd_connect_publishers();
    for (uint32_t i = 0; i < crowd.publisher_count && !run_failure(); i++) fill_window(&crowd.publishers[i], window);
    keep_full(options.warm_up, window);
    struct moment from = account_now();
    keep_full(options.seconds, window);
    struct moment to = account_now();
    delivery_drain();
    report_begin();
    report_costs(&from, &to);
    report_end();
}
