/* open: messages are sent at a fixed rate, whether the server keeps up or not. The time to arrival counts from when the
 * message should have been sent: a generator that is late must not make the server look faster. */
#include "account.h"
#include "delivery.h"
#include "loop.h"
#include "report.h"
#include "run.h"
#include "workload.h"

static struct histogram arrival_times, send_delays;

/* When messages are due: one after the other, each by the next publisher. */
struct schedule {
    uint64_t start_ns, sent;
    double step_ns;
    uint32_t next_publisher;
    bool counts_delays;
};

static uint64_t next_due(const struct schedule *s) { return s->start_ns + (uint64_t)((double)s->sent * s->step_ns); }

/* Publishes everything that is due. */
static void publish_due(struct schedule *s) {
    uint64_t now = now_ns(), due;
    while ((due = next_due(s)) <= now) {
        if (s->counts_delays) histogram_add(&send_delays, now - due);
        delivery_publish(&crowd.publishers[s->next_publisher], due);
        s->next_publisher = (s->next_publisher + 1) % crowd.publisher_count;
        s->sent++;
    }
}

/* Follows the schedule for so many seconds. */
static void follow(struct schedule *s, double seconds) {
    uint64_t end_ns = now_ns() + seconds_ns(seconds);
    while (now_ns() < end_ns && !run_failure()) {
        publish_due(s);
        connections_flush();
        uint64_t due = next_due(s), now = now_ns();
        loop_turn(due > now ? due - now : 0);
    }
}

/* The workload; workload.h has its contract. */
void workload_open(void) {
    crowd_make(options.channels, options.subscribers, options.publishers);
    crowd_connect_subscribers();
    crowd_connect_publishers();
    struct schedule schedule = {
        .start_ns = now_ns() + seconds_ns(0.01), .step_ns = 1e9 * options.subscribers / options.rate,
    };
    follow(&schedule, options.warm_up);
    struct moment from = account_now();
    delivery_times = &arrival_times;
    schedule.counts_delays = true;
    follow(&schedule, options.seconds);
    struct moment to = account_now();
    delivery_drain();
    report_begin();
    report_real("rate", options.rate);
    report_costs(&from, &to);
    report_histogram("arrival_us", &arrival_times);
    report_histogram("send_delay_us", &send_delays);
    report_end();
}
