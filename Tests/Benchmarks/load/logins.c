/* logins: how fast sessions connect, log in and subscribe, each to a channel of its own, all to one or to none: what comes
 * after a network or a server was away. */
#include "account.h"
#include "delivery.h"
#include "report.h"
#include "run.h"
#include "workload.h"

/* The workload; workload.h has its contract. */
void workload_logins(void) {
    if (options.no_channel) crowd_make(1, 1, options.sessions);
    else if (options.together) crowd_make(1, options.sessions, 1);
    else crowd_make(options.sessions, 1, 1);
    struct moment from = account_now();
    if (options.no_channel) crowd_connect_publishers();
    else crowd_connect_subscribers();
    struct moment to = account_now();
    double seconds = (double)(to.at_ns - from.at_ns) / 1e9;
    report_begin();
    report_integer("sessions", options.sessions);
    report_costs(&from, &to);
    report_real("logins_per_s", connections_ready / seconds);
    report_real("server_us_per_login", (double)(to.server_ns - from.server_ns) / 1e3 / options.sessions);
    report_histogram("login_us", &connection_times);
    report_end();
}
