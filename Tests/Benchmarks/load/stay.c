/* stay: sessions that stay until SIGTERM, whatever the server does. Each sends a heartbeat in its turn, and one whose
 * connection is lost or refused comes back, as a client library would. The first --crowd of them subscribe to the run's
 * channel 0, all others to one of their own.
 *
 * It prints a line when all sessions are there, again each time that all are back, and for each SIGUSR1. A line has
 * what happened since the line before. */
#include "adapter.h"
#include "delivery.h"
#include "loop.h"
#include "report.h"
#include "run.h"
#include "workload.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* A client waits for a random time before it comes back: up to one second first, and then up to twice as long each time. */
enum { FIRST_PAUSE_MS = 1000, DOUBLINGS_MAX = 5 };

static struct connection **sessions;
static struct waiting { uint64_t due_ns; uint32_t attempts; bool waits; } *waiting;
static uint32_t waiting_count, beaten;
static uint64_t began_ns, lost_count;
static struct histogram arrivals;
static volatile sig_atomic_t asked, ended;

static void on_signal(int signal) {
    if (signal == SIGUSR1) asked = 1;
    else ended = 1;
}

static uint32_t index_of(const struct connection *c) { return c->id - options.first; }

/* The connection is gone, or the server has refused it. */
static void lost(struct connection *c) {
    struct waiting *w = &waiting[index_of(c)];
    uint32_t doublings = w->attempts < DOUBLINGS_MAX ? w->attempts : DOUBLINGS_MAX;
    w->attempts++;
    w->waits = true;
    w->due_ns = now_ns() + (uint64_t)rand() % ((uint64_t)FIRST_PAUSE_MS << doublings) * 1000000u;
    waiting_count++;
    lost_count++;
}

/* Opens those connections again whose time has come, as many at once as may be. */
static void come_back(void) {
    uint64_t now = now_ns();
    static uint32_t next;
    for (uint32_t looked = 0; waiting_count && looked < options.sessions; looked++, next = (next + 1) % options.sessions) {
        if (connections_under_way >= options.at_once) return;
        if (!waiting[next].waits || waiting[next].due_ns > now) continue;
        waiting[next].waits = false;
        waiting_count--;
        connection_open(sessions[next]);
    }
}

/* Sends the heartbeats that are due: one for each session within --heartbeat, evenly. */
static void send_heartbeats(void) {
    if (options.heartbeat == 0) return;
    double each = (double)options.heartbeat / options.sessions;
    uint32_t due = (uint32_t)((double)(now_ns() - began_ns) / 1e9 / each);
    for (; beaten != due; beaten++) {
        struct connection *c = sessions[beaten % options.sessions];
        if (c->state == READY) options.adapter->ping(c);
    }
}

static void print_line(bool is_answer) {
    static struct counters before;
    report_begin();
    report_integer("is_answer", is_answer);
    report_integer("at_ns", now_ns());
    report_integer("ready", connections_ready);
    report_integer("lost_connections", lost_count);
    report_integer("pongs", counters.pongs - before.pongs);
    report_integer("delivered", counters.delivered - before.delivered);
    report_histogram("arrival_us", &arrivals);
    report_end();
    fflush(stdout);
    before = counters;
    lost_count = 0;
    arrivals = (struct histogram){ 0 };
}

/* The workload; workload.h has its contract. */
void workload_stay(void) {
    sessions = calloc(options.sessions, sizeof *sessions);
    waiting = calloc(options.sessions, sizeof *waiting);
    struct subscriber *subscribers = calloc(options.sessions, sizeof *subscribers);
    uint64_t *expected = calloc(options.sessions, sizeof *expected);
    for (uint32_t i = 0; i < options.sessions; i++) {
        uint32_t channel = i < options.crowd ? 0 : options.first + i;
        waiting[i].waits = true;
        subscribers[i] = (struct subscriber){ .channel = channel, .expected = &expected[i] };
        sessions[i] = subscribers[i].connection = connection_new(channel, &subscribers[i]);
    }
    crowd.publishers_each = 1;
    delivery_times = &arrivals;
    connection_lost = lost;
    srand(options.first);
    signal(SIGUSR1, on_signal);
    signal(SIGTERM, on_signal);
    waiting_count = options.sessions;
    began_ns = now_ns();
    bool announced = false;
    while (!ended && !run_failure()) {
        come_back();
        send_heartbeats();
        loop_turn(seconds_ns(waiting_count ? 0.01 : 0.05));
        if (connections_ready == options.sessions) {
            for (uint32_t i = 0; !announced && i < options.sessions; i++) waiting[i].attempts = 0;
            if (!announced) print_line(false);
            announced = true;
        } else {
            announced = false;
        }
        if (asked) { asked = 0; print_line(true); }
    }
    if (run_failure()) print_line(false);
}
