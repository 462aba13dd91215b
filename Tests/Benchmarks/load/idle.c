/* idle: what sessions cost that say nothing, which is what most sessions do most of the time. Each has a channel of its
 * own. In the end each receives one message, as a proof that it is still there. */
#include "account.h"
#include "adapter.h"
#include "delivery.h"
#include "loop.h"
#include "report.h"
#include "run.h"
#include "workload.h"

enum { SETTLE_SECONDS = 2, PROOF_SECONDS_MAX = 20, PROOF_WINDOW = 200 };

/* Lets time pass. Nothing is asked of the server. */
static void stay_quiet(double seconds) {
    uint64_t end_ns = now_ns() + seconds_ns(seconds), now;
    while ((now = now_ns()) < end_ns && !run_failure()) loop_turn(end_ns - now);
}

/* Has every session ping once, evenly over the time. */
static void ping_all(double seconds) {
    uint64_t start_ns = now_ns();
    double step_ns = seconds * 1e9 / crowd.subscriber_count;
    for (uint32_t i = 0; i < crowd.subscriber_count && !run_failure();) {
        uint64_t due = start_ns + (uint64_t)(i * step_ns), now = now_ns();
        if (due <= now) options.adapter->ping(crowd.subscribers[i++].connection);
        else loop_turn(due - now);
    }
    stay_quiet(0.2);
}

/* Sends one message to each channel, all over one connection and some hundreds at a time. */
static void prove_alive(void) {
    struct connection *sender = crowd.publishers[0].connection;
    uint64_t end_ns = now_ns() + seconds_ns(PROOF_SECONDS_MAX);
    loop_connect(&sender, 1);
    for (uint32_t i = 0; i < crowd.publisher_count && !run_failure() && now_ns() < end_ns;) {
        if (counters.published - counters.delivered < PROOF_WINDOW) {
            crowd.publishers[i].connection = sender;
            delivery_publish(&crowd.publishers[i++], 0);
        } else {
            loop_turn(seconds_ns(0.01));
        }
    }
    delivery_drain();
}

static double kb_each(long after, long before) { return (double)(after - before) / crowd.subscriber_count; }

static double cpu_percent(const struct moment *from, const struct moment *to) {
    return 100.0 * (double)(to->server_ns - from->server_ns) / (double)(to->at_ns - from->at_ns);
}

/* The workload; workload.h has its contract. */
void workload_idle(void) {
    crowd_make(options.sessions, 1, 1);
    struct moment before = account_now();
    crowd_connect_subscribers();
    stay_quiet(SETTLE_SECONDS);
    struct moment quiet = account_now();
    stay_quiet(options.quiet);
    struct moment pinging = account_now();
    ping_all(options.seconds);
    struct moment after = account_now();
    prove_alive();
    struct moment end = account_now();
    uint64_t pongs = after.counters.pongs - pinging.counters.pongs;
    report_begin();
    report_integer("sessions", options.sessions);
    report_real("seconds", (double)(after.at_ns - pinging.at_ns) / 1e9);
    report_real("kb_per_session", kb_each(after.resident_kb, before.resident_kb));
    report_real("kb_per_session_peak", kb_each(end.resident_peak_kb, before.resident_kb));
    report_real("quiet_cpu_percent", cpu_percent(&quiet, &pinging));
    report_integer("pings", pongs);
    report_real("server_us_per_ping", pongs ? (double)(after.server_ns - pinging.server_ns) / 1e3 / (double)pongs : 0);
    report_real("others_cpu_s", after.busy_s - pinging.busy_s
        - (double)(after.server_ns - pinging.server_ns + after.generator_ns - pinging.generator_ns) / 1e9);
    report_end();
}
