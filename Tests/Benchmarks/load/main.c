/* The load generator: one thread, epoll, one workload per call, one line of JSON. README.md describes it. */
#include "loop.h"
#include "options.h"
#include "run.h"
#include "workload.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const struct { const char *name; void (*run)(void); } workloads[] = {
    { "closed", workload_closed }, { "open", workload_open }, { "idle", workload_idle }, { "logins", workload_logins },
    { "stay", workload_stay },
};

/* Allows as many open files as the system lets us have. */
static void raise_open_files(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argument_count, char **arguments) {
    options_read(argument_count, arguments);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1UL);  /* The kernel would let a wait be 50 µs longer otherwise. */
    raise_open_files();
    loop_start();
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(workloads[i].name, options.workload)) continue;
        workloads[i].run();
        return run_failure() ? 1 : 0;
    }
    fprintf(stderr, "load: there is no workload %s\n", options.workload);
    return 2;
}
