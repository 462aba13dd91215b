#define _GNU_SOURCE
#include "loop.h"
#include "run.h"
#include <sys/epoll.h>

enum { EVENTS_MAX = 4096, CONNECT_STALL_SECONDS = 30 };

static int epoll;

/* Makes the loop. Call it once, before the first connection. */
void loop_start(void) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
}

static void watch(struct connection *c, int operation) {
    struct epoll_event event = { .events = EPOLLIN | (c->awaits_room ? (uint32_t)EPOLLOUT : 0), .data.ptr = c };
    epoll_ctl(epoll, operation, c->fd, &event);
}

/* Watches a connection's socket from now on. */
void loop_add(struct connection *c) { watch(c, EPOLL_CTL_ADD); }

/* Follows the connection's awaits_room. */
void loop_update(struct connection *c) { watch(c, EPOLL_CTL_MOD); }

/* One turn: sends what waits, then handles what the sockets report. Waits for that at most `patience_ns`. */
void loop_turn(uint64_t patience_ns) {
    static struct epoll_event events[EVENTS_MAX];
    struct timespec patience = { .tv_sec = (time_t)(patience_ns / 1000000000u), .tv_nsec = (long)(patience_ns % 1000000000u) };
    connections_flush();
    int count = epoll_pwait2(epoll, events, EVENTS_MAX, &patience, NULL);
    for (int i = 0; i < count; i++) connection_event(events[i].data.ptr, events[i].events);
}

/* Opens these connections, some at a time, and returns when all are ready or the run has failed. */
void loop_connect(struct connection **list, uint32_t count) {
    uint32_t opened = 0, wanted = connections_ready + count, ready = connections_ready;
    uint64_t progress_ns = now_ns();
    while (connections_ready < wanted && !run_failure()) {
        while (opened < count && connections_under_way < options.at_once && !run_failure()) connection_open(list[opened++]);
        loop_turn(seconds_ns(0.1));
        if (connections_ready != ready) {
            ready = connections_ready;
            progress_ns = now_ns();
        } else if (now_ns() - progress_ns > seconds_ns(CONNECT_STALL_SECONDS)) {
            run_fail("only %u of %u connections are ready, and nothing more happens", ready, wanted);
        }
    }
    connections_flush();
}
