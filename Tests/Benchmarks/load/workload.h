/* The workloads; README.md says what each is for. Each reports one line, also when the run fails. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

/* closed: as many messages are on their way as fit in the window; a publisher sends the next one when the last
 * subscriber has an older one. */
void workload_closed(void);

/* open: messages are sent at a fixed rate, whether the server keeps up or not. */
void workload_open(void);

/* idle: many sessions that say nothing, then one ping of each, then one message to each. */
void workload_idle(void);

/* logins: connect, log in and subscribe. */
void workload_logins(void);

/* stay: many sessions with heartbeats that come back when they are lost, until SIGTERM. */
void workload_stay(void);

#endif
