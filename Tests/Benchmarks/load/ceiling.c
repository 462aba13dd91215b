/* The ceiling: the least that a broker on epoll can do. `ceiling PORT` listens on 127.0.0.1. A message is encoded once
 * into its channel's batch; at the end of the loop's turn each subscriber gets one send() of that batch, without a copy
 * of its own. There are no users, acknowledgements, logs, limits or timers: what a server costs more than this, it
 * costs for what it promises.
 *
 * It serves the load generator alone. A connection subscribes to at most one channel, and what a slow reader doesn't
 * take is kept without a limit. */
#define _GNU_SOURCE
#include "ceiling.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_MAX = 1024, ACCEPTS_MAX = 256, BUCKETS = 65536, READ_BYTES_MAX = 256 * 1024, BATCH_BYTES_KEPT = 1 << 20 };

struct buffer { uint8_t *bytes; size_t start, end, capacity; };

struct connection {
    int fd;
    bool is_dirty, awaits_room, is_closed;
    struct channel *channel;    /* What it is subscribed to, or NULL. */
    uint32_t place;             /* Its place among the channel's subscribers. */
    struct buffer input, output;
    struct connection *next_closed;
};

struct channel {
    struct channel *next;       /* In the same bucket. */
    struct connection **subscribers;
    uint32_t count, capacity;
    bool is_dirty;
    struct buffer batch;        /* The messages of this turn. */
    size_t name_size;
    uint8_t name[];
};

/* Those that something is to be sent to, or of, at the end of the turn. */
struct list { void **items; size_t count, capacity; };

static int epoll;
static struct channel *buckets[BUCKETS];
static struct list dirty_connections, dirty_channels;
static struct connection *closed;

static void list_add(struct list *l, void *item) {
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 1024;
        l->items = realloc(l->items, l->capacity * sizeof *l->items);
    }
    l->items[l->count++] = item;
}

/* Buffers */

/* Reserves `count` bytes at the end of a buffer and returns where they begin. */
static uint8_t *reserve(struct buffer *b, size_t count) {
    if (b->end + count > b->capacity) {
        size_t capacity = b->capacity ? b->capacity : 256;
        while (capacity < b->end + count) capacity *= 2;
        b->bytes = realloc(b->bytes, capacity);
        b->capacity = capacity;
    }
    b->end += count;
    return b->bytes + b->end - count;
}

static void append(struct buffer *b, const uint8_t *bytes, size_t count) { memcpy(reserve(b, count), bytes, count); }

static void release(struct buffer *b) {
    free(b->bytes);
    *b = (struct buffer){ 0 };
}

/* Channels */

/* Returns the channel of that name; it is made if there is none yet, and stays for good. */
static struct channel *channel_named(const uint8_t *name, size_t size) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ name[i]) * 16777619u;
    struct channel **bucket = &buckets[(hash ^ hash >> 16) % BUCKETS], *c;
    for (c = *bucket; c; c = c->next)
        if (c->name_size == size && !memcmp(c->name, name, size)) return c;
    c = calloc(1, sizeof *c + size);
    c->name_size = size;
    memcpy(c->name, name, size);
    c->next = *bucket;
    return *bucket = c;
}

static void subscribe(struct connection *c, struct channel *channel) {
    if (channel->count == channel->capacity) {
        channel->capacity = channel->capacity ? channel->capacity * 2 : 1;
        channel->subscribers = realloc(channel->subscribers, channel->capacity * sizeof *channel->subscribers);
    }
    c->channel = channel;
    c->place = channel->count;
    channel->subscribers[channel->count++] = c;
}

static void unsubscribe(struct connection *c) {
    struct channel *channel = c->channel;
    struct connection *last = channel->subscribers[--channel->count];
    channel->subscribers[c->place] = last;
    last->place = c->place;
    c->channel = NULL;
}

/* Connections */

/* Closes a connection. Its memory is freed at the end of the turn, because the turn's events may still name it. */
static void close_connection(struct connection *c) {
    if (c->is_closed) return;
    c->is_closed = true;
    close(c->fd);
    if (c->channel) unsubscribe(c);
    c->next_closed = closed;
    closed = c;
}

static void watch(struct connection *c, int operation) {
    struct epoll_event event = { .events = EPOLLIN | (c->awaits_room ? (uint32_t)EPOLLOUT : 0), .data.ptr = c };
    epoll_ctl(epoll, operation, c->fd, &event);
}

static void await_room(struct connection *c, bool awaits) {
    if (c->awaits_room == awaits) return;
    c->awaits_room = awaits;
    watch(c, EPOLL_CTL_MOD);
}

/* Sends what waits for the connection; what the socket doesn't take waits for room. */
static void flush(struct connection *c) {
    struct buffer *b = &c->output;
    while (!c->is_closed && b->start < b->end) {
        ssize_t count = send(c->fd, b->bytes + b->start, b->end - b->start, MSG_NOSIGNAL);
        if (count >= 0) b->start += (size_t)count;
        else if (errno == EAGAIN) { await_room(c, true); return; }
        else close_connection(c);
    }
    if (c->is_closed) return;
    await_room(c, false);
    release(b);
}

/* Sends bytes that are the caller's: straight to the socket if nothing waits before them, and the rest is kept. */
static void send_batch(struct connection *c, const struct buffer *batch) {
    ssize_t count = 0;
    if (c->output.start == c->output.end) {
        count = send(c->fd, batch->bytes, batch->end, MSG_NOSIGNAL);
        if (count == (ssize_t)batch->end) return;
        if (count < 0 && errno != EAGAIN) { close_connection(c); return; }
        if (count < 0) count = 0;
        await_room(c, true);
    }
    append(&c->output, batch->bytes + count, batch->end - (size_t)count);
}

/* Answers with a frame that has no content. */
static void answer(struct connection *c, enum ceiling_frame kind) {
    uint32_t length = 1;
    uint8_t *o = reserve(&c->output, CEILING_LENGTH_BYTES + length);
    memcpy(o, &length, CEILING_LENGTH_BYTES);
    o[CEILING_LENGTH_BYTES] = (uint8_t)kind;
    if (c->is_dirty) return;
    c->is_dirty = true;
    list_add(&dirty_connections, c);
}

/* Frames */

/* Adds a message to its channel's batch. The frame becomes the message by a change of one byte: that is the encoding. */
static void publish(uint8_t *frame, uint32_t length) {
    struct channel *channel = channel_named(frame + 2, frame[1]);
    if (!channel->count) return;
    frame[0] = CEILING_MESSAGE;
    append(&channel->batch, frame - CEILING_LENGTH_BYTES, CEILING_LENGTH_BYTES + length);
    if (channel->is_dirty) return;
    channel->is_dirty = true;
    list_add(&dirty_channels, channel);
}

/* Does what one frame asks for; `frame` is where its kind stands. */
static void handle(struct connection *c, uint8_t *frame, uint32_t length) {
    switch (frame[0]) {
    case CEILING_PUBLISH: publish(frame, length); break;
    case CEILING_LOG_IN: answer(c, CEILING_LOGGED_IN); break;
    case CEILING_PING: answer(c, CEILING_PONG); break;
    case CEILING_SUBSCRIBE:
        if (c->channel) { close_connection(c); break; }
        subscribe(c, channel_named(frame + 1, length - 1));
        answer(c, CEILING_SUBSCRIBED);
        break;
    default: close_connection(c);
    }
}

/* Handles the whole frames of `bytes` and returns how many bytes they are. */
static size_t parse(struct connection *c, uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (count - at > CEILING_LENGTH_BYTES && !c->is_closed) {
        uint32_t length;
        memcpy(&length, bytes + at, CEILING_LENGTH_BYTES);
        if (!length || length > CEILING_FRAME_BYTES_MAX) { close_connection(c); break; }
        if (count - at - CEILING_LENGTH_BYTES < length) break;
        handle(c, bytes + at + CEILING_LENGTH_BYTES, length);
        at += CEILING_LENGTH_BYTES + length;
    }
    return at;
}

static void receive(struct connection *c) {
    static uint8_t bytes[READ_BYTES_MAX];
    size_t held = c->input.end;
    if (held) memcpy(bytes, c->input.bytes, held);
    ssize_t count = recv(c->fd, bytes + held, sizeof bytes - held, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) { close_connection(c); return; }
    size_t all = held + (size_t)count, taken = parse(c, bytes, all);
    c->input.end = 0;
    if (taken < all) append(&c->input, bytes + taken, all - taken);
    else release(&c->input);
}

/* The loop */

/* Takes the connections that wait, as many as fit in a turn. */
static void accept_connections(int listener) {
    int on = 1, fd;
    for (int i = 0; i < ACCEPTS_MAX && (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0; i++) {
        struct connection *c = calloc(1, sizeof *c);
        c->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(c, EPOLL_CTL_ADD);
    }
}

static void handle_event(struct connection *c, uint32_t events) {
    if (!c->is_closed && events & EPOLLOUT) flush(c);
    if (!c->is_closed && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
}

/* Sends the batch of a channel to its subscribers. Backwards, because one whose socket is broken leaves the list and
 * the last one takes its place. */
static void send_channel(struct channel *channel) {
    channel->is_dirty = false;
    for (uint32_t i = channel->count; i-- > 0;) send_batch(channel->subscribers[i], &channel->batch);
    channel->batch.end = 0;
    if (channel->batch.capacity > BATCH_BYTES_KEPT) release(&channel->batch);
}

/* Sends everything that this turn has brought, and frees what was closed. */
static void end_turn(void) {
    for (size_t i = 0; i < dirty_channels.count; i++) send_channel(dirty_channels.items[i]);
    dirty_channels.count = 0;
    for (size_t i = 0; i < dirty_connections.count; i++) {
        struct connection *c = dirty_connections.items[i];
        c->is_dirty = false;
        flush(c);
    }
    dirty_connections.count = 0;
    while (closed) {
        struct connection *c = closed;
        closed = c->next_closed;
        release(&c->input);
        release(&c->output);
        free(c);
    }
}

/* Returns a socket that listens on 127.0.0.1, or -1. */
static int listen_on(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return -1;
    return listener;
}

int main(int argument_count, char **arguments) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    signal(SIGPIPE, SIG_IGN);
    int listener = argument_count == 2 ? listen_on(atoi(arguments[1])) : -1;
    if (listener < 0) {
        fprintf(stderr, "usage: ceiling PORT, on which nobody else listens\n");
        return 1;
    }
    epoll = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN }, events[EVENTS_MAX];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr) handle_event(events[i].data.ptr, events[i].events);
            else accept_connections(listener);
        }
        end_turn();
    }
}
