/* A session of the generator: a socket, what waits to be sent, and what has come of a frame that isn't complete.
 *
 * Adapters write with connection_reserve() and connection_write(), and report what the server says with the events
 * below. What they write leaves at the end of the loop's turn, in one write per connection. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "histogram.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum connection_state {
    CONNECTING,     /* The socket isn't connected yet. */
    IN_HANDSHAKE,   /* TLS isn't ready yet. */
    LOGGING_IN,     /* The adapter has been asked for a login. */
    SUBSCRIBING,    /* The adapter has been asked for a subscribe; subscribers only. */
    READY,
    ENDED,          /* The connection is closed. It stays in memory, because others point to it. */
};

struct buffer { uint8_t *bytes; size_t start, end, capacity; };

struct connection {
    int fd;
    uint32_t id;                /* Unique in this run: adapters make the user's name of it. */
    uint32_t channel;           /* What a subscriber subscribes to. */
    enum connection_state state;
    bool awaits_room;           /* The socket is full: the loop waits until it takes more. */
    bool is_dirty;              /* The connection is in the list of those that are flushed at the end of the turn. */
    void *tls;                  /* OpenSSL's session, or NULL. */
    struct buffer input, output;
    struct subscriber *subscriber;  /* NULL if the connection only publishes. */
    uint64_t started_ns;
    uint64_t adapter_state;     /* The adapter's own; 0 at first. */
};

/* How many connections are ready, and how many are being set up. */
extern uint32_t connections_ready, connections_under_way;
/* How long it took from connect() to READY. */
extern struct histogram connection_times;
/* When the bytes that are being parsed were read. */
extern uint64_t received_ns;
/* Called when a connection is lost or refused. It may be opened again, from outside of a turn. While this is NULL a loss or a
 * refusal ends the run. */
extern void (*connection_lost)(struct connection *c);

/* Makes a connection that isn't open yet. It subscribes to `channel` if `subscriber` isn't NULL; both stay for good. */
struct connection *connection_new(uint32_t channel, struct subscriber *subscriber);

/* Begins to connect, for the first time or once more. */
void connection_open(struct connection *c);

/* Handles what epoll reports about the socket. */
void connection_event(struct connection *c, uint32_t events);

/* Writes what waits to be sent on all connections. */
void connections_flush(void);

/* Reserves `count` bytes at the end of the output. The pointer is good until the next reservation. */
uint8_t *connection_reserve(struct connection *c, size_t count);

/* Copies `count` bytes to the end of the output. */
void connection_write(struct connection *c, const void *bytes, size_t count);

/* Events that adapters report. */
void connection_logged_in(struct connection *c);
void connection_subscribed(struct connection *c);
void connection_message(struct connection *c, const uint8_t *payload, size_t size);
void connection_acknowledged(void);
void connection_pong(void);

/* The server refused something, or what it sent makes no sense: ends the run. Returns -1, for parse() to return. */
int connection_refused(struct connection *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For adapters whose server greets in clear text: says whether TLS is still to begin, and begins it. log_in() is called
 * again when TLS is ready. */
bool connection_lacks_tls(const struct connection *c);
void connection_start_tls(struct connection *c);

#endif
