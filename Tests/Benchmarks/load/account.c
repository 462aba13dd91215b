#include "account.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERVER_PROCESSES_MAX = 128 };
static struct { pid_t id; clockid_t clock; } servers[SERVER_PROCESSES_MAX];
static int server_count;

/* Names the server's processes: a list of ids with commas between them. Ids that don't exist are passed over. */
void account_for(const char *process_ids) {
    char *end;
    for (const char *at = process_ids; *at && server_count < SERVER_PROCESSES_MAX; at = *end ? end + 1 : end) {
        pid_t id = (pid_t)strtol(at, &end, 10);
        if (end == at) return;
        servers[server_count].id = id;
        if (!clock_getcpuclockid(id, &servers[server_count].clock)) server_count++;
    }
}

/* Returns the value of a line like "VmRSS:  1234 kB" of a process, and 0 if it has ended. */
static long status_kb(pid_t process, const char *key) {
    char path[64], line[256];
    long value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key))) { value = atol(line + strlen(key)); break; }
    fclose(file);
    return value;
}

/* Reads a processor clock in nanoseconds; it goes on counting the threads that have ended. Returns 0 for a process
 * that has ended. */
static uint64_t clock_ns(clockid_t clock) {
    struct timespec spent;
    if (clock_gettime(clock, &spent)) return 0;
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

/* Fills in what /proc/stat says about the whole machine. */
static void read_machine(struct moment *m) {
    double user, nice, system, idle, wait, interrupts, soft_interrupts, stolen;
    FILE *file = fopen("/proc/stat", "r");
    if (!file) return;
    if (fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &interrupts,
               &soft_interrupts, &stolen) == 8) {
        double ticks = (double)sysconf(_SC_CLK_TCK);
        m->busy_s = (user + nice + system + interrupts + soft_interrupts) / ticks;
        m->stolen_s = stolen / ticks;
    }
    fclose(file);
}

/* Returns this moment. The clocks are read first, so that reading /proc isn't measured. */
struct moment account_now(void) {
    struct moment m = { .counters = counters };
    for (int i = 0; i < server_count; i++) m.server_ns += clock_ns(servers[i].clock);
    m.at_ns = now_ns();
    m.generator_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < server_count; i++) {
        m.resident_kb += status_kb(servers[i].id, "VmRSS:");
        m.resident_peak_kb += status_kb(servers[i].id, "VmHWM:");
    }
    read_machine(&m);
    return m;
}
