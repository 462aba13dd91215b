/* The event loop: one thread, epoll, a turn at a time. */
#ifndef LOOP_H
#define LOOP_H

#include "connection.h"

/* Makes the loop. Call it once, before the first connection. */
void loop_start(void);

/* Watches a connection's socket from now on, and after it has changed whether it awaits room. */
void loop_add(struct connection *c);
void loop_update(struct connection *c);

/* One turn: sends what waits, then handles what the sockets report. Waits for that at most `patience_ns`. */
void loop_turn(uint64_t patience_ns);

/* Opens these connections, some at a time, and returns when all are ready or the run has failed. */
void loop_connect(struct connection **list, uint32_t count);

#endif
