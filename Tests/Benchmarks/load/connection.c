#include "connection.h"
#include "adapter.h"
#include "delivery.h"
#include "loop.h"
#include "run.h"
#include "tls.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES_MAX = 512 * 1024, BUFFER_BYTES_MIN = 512, CONNECTIONS_PER_ADDRESS = 1000 };

uint32_t connections_ready, connections_under_way;
struct histogram connection_times;
uint64_t received_ns;
void (*connection_lost)(struct connection *c);

static uint8_t read_buffer[READ_BYTES_MAX];
static struct connection **dirty;
static size_t dirty_count, dirty_capacity;

/* Makes a connection that isn't open yet. It subscribes to `channel` if `subscriber` isn't NULL; both stay for good. */
struct connection *connection_new(uint32_t channel, struct subscriber *subscriber) {
    static uint32_t made;
    struct connection *c = calloc(1, sizeof *c);
    c->fd = -1;
    c->id = options.first + made++;
    c->channel = channel;
    c->subscriber = subscriber;
    return c;
}

/* Gives memory of a buffer back. */
static void release(struct buffer *b) {
    free(b->bytes);
    *b = (struct buffer){ 0 };
}

/* Closes the connection, and leaves it as it was before it was opened. */
static void let_go(struct connection *c) {
    if (c->state == READY) connections_ready--;
    else connections_under_way--;
    c->state = ENDED;
    c->adapter_state = 0;
    release(&c->input);
    release(&c->output);
    close(c->fd);
}

/* Closes the connection. That ends the run unless losses are expected, because nobody but the server can have wanted it. */
static void end(struct connection *c, const char *why) {
    if (c->state == ENDED) return;
    if (connection_lost) {
        let_go(c);
        connection_lost(c);
        return;
    }
    counters.ended++;
    run_fail("connection %u ended: %s", c->id, why);
    c->state = ENDED;
    close(c->fd);
}

/* Gives the socket one of the addresses 127.0.0.0/8. The kernel looks for a free port of an address one by one, also among
 * those of connections that ended a minute ago: with one address for all, that was nearly half of the generator's time in
 * `logins`, and no address has a port for a million. */
static bool bind_own_address(const struct connection *c) {
    static uint32_t first;
    if (!first) first = (uint32_t)(now_ns() >> 10) % 0x7f0000 + 0x10000;
    int on = 1;
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(0x7f000000 | (first + c->id / CONNECTIONS_PER_ADDRESS)) };
    return !setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on)
        && !bind(c->fd, (struct sockaddr *)&address, sizeof address);
}

/* Begins to connect, for the first time or once more. */
void connection_open(struct connection *c) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)options.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) { run_fail("socket: %s", strerror(errno)); return; }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->started_ns = now_ns();
    c->state = CONNECTING;
    connections_under_way++;
    if (!bind_own_address(c)) { end(c, strerror(errno)); return; }
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) {
        end(c, strerror(errno));
        return;
    }
    c->awaits_room = true;
    loop_add(c);
}

/* Has the loop wait until the socket takes more, or no longer. */
static void await_room(struct connection *c, bool awaits) {
    if (c->awaits_room == awaits) return;
    c->awaits_room = awaits;
    loop_update(c);
}

/* Output */

/* Makes room for `count` bytes more behind the buffer's end. */
static void make_room(struct buffer *b, size_t count) {
    if (b->start == b->end) b->start = b->end = 0;
    if (b->end + count <= b->capacity) return;
    if (b->start) memmove(b->bytes, b->bytes + b->start, b->end - b->start);
    b->end -= b->start;
    b->start = 0;
    size_t capacity = b->capacity ? b->capacity : BUFFER_BYTES_MIN;
    while (capacity < b->end + count) capacity *= 2;
    if (capacity == b->capacity) return;
    b->bytes = realloc(b->bytes, capacity);
    b->capacity = capacity;
}

/* Reserves `count` bytes at the end of the output. The pointer is good until the next reservation. */
uint8_t *connection_reserve(struct connection *c, size_t count) {
    make_room(&c->output, count);
    if (!c->is_dirty) {
        c->is_dirty = true;
        if (dirty_count == dirty_capacity) {
            dirty_capacity = dirty_capacity ? dirty_capacity * 2 : 1024;
            dirty = realloc(dirty, dirty_capacity * sizeof *dirty);
        }
        dirty[dirty_count++] = c;
    }
    uint8_t *place = c->output.bytes + c->output.end;
    c->output.end += count;
    return place;
}

/* Copies `count` bytes to the end of the output. */
void connection_write(struct connection *c, const void *bytes, size_t count) {
    memcpy(connection_reserve(c, count), bytes, count);
}

/* Writes what waits on one connection; what the socket doesn't take waits for room. Sessions that are ready and idle
 * give their buffer back, so that ten thousand of them need little memory. */
static void flush(struct connection *c) {
    c->is_dirty = false;
    if (c->state == ENDED || c->state < LOGGING_IN) return;
    struct buffer *b = &c->output;
    while (b->start < b->end) {
        const uint8_t *from = b->bytes + b->start;
        size_t size = b->end - b->start;
        ssize_t count = c->tls ? tls_write(c, from, size) : send(c->fd, from, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) { await_room(c, true); return; }
        if (count <= 0) { end(c, count ? strerror(errno) : "TLS failed while writing"); return; }
        b->start += (size_t)count;
    }
    await_room(c, false);
    if (c->subscriber && c->state == READY) release(b);
}

/* Writes what waits to be sent on all connections. */
void connections_flush(void) {
    for (size_t i = 0; i < dirty_count; i++) flush(dirty[i]);
    dirty_count = 0;
}

/* Input */

/* Parses the first `count` bytes of the read buffer and keeps what is left of them. Returns false if the connection
 * ended. */
static bool parse(struct connection *c, size_t count) {
    ssize_t taken = options.adapter->parse(c, read_buffer, count);
    if (taken < 0) end(c, "the adapter couldn't go on");
    if (c->state == ENDED) return false;
    size_t left = count - (size_t)taken;
    c->input.end = 0;
    if (!left) {
        release(&c->input);
        return true;
    }
    make_room(&c->input, left);
    memcpy(c->input.bytes, read_buffer + taken, left);
    c->input.end = left;
    return true;
}

/* Reads and parses. A socket is read once in a turn; TLS is read until it has nothing more, because what OpenSSL has
 * taken from the socket already is nothing that epoll would report. */
static void receive(struct connection *c) {
    do {
        size_t held = c->input.end;
        if (held) memcpy(read_buffer, c->input.bytes, held);
        uint8_t *to = read_buffer + held;
        ssize_t count = c->tls ? tls_read(c, to, sizeof read_buffer - held) : recv(c->fd, to, sizeof read_buffer - held, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count <= 0) { end(c, count ? strerror(errno) : "the server closed it"); return; }
        counters.reads++;
        received_ns = now_ns();
        if (!parse(c, held + (size_t)count)) return;
    } while (c->tls && c->state >= LOGGING_IN);
}

/* Setting up */

static void begin_login(struct connection *c) {
    c->state = LOGGING_IN;
    await_room(c, false);
    options.adapter->log_in(c);
}

static void continue_handshake(struct connection *c) {
    switch (tls_handshake(c)) {
    case TLS_DONE: begin_login(c); break;
    case TLS_AWAITS_INPUT: await_room(c, false); break;
    case TLS_AWAITS_ROOM: await_room(c, true); break;
    case TLS_FAILED: end(c, "the TLS handshake failed"); break;
    }
}

/* Says whether TLS is still to begin. */
bool connection_lacks_tls(const struct connection *c) { return options.tls && !c->tls; }

/* Begins TLS; log_in() is called again when it is ready. */
void connection_start_tls(struct connection *c) {
    c->state = IN_HANDSHAKE;
    tls_begin(c);
    continue_handshake(c);
}

static void connected(struct connection *c) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) end(c, strerror(error));
    else if (options.tls && !options.adapter->greets_before_tls) connection_start_tls(c);
    else begin_login(c);
}

/* Handles what epoll reports about the socket. */
void connection_event(struct connection *c, uint32_t events) {
    switch (c->state) {
    case ENDED: break;
    case CONNECTING: connected(c); break;
    case IN_HANDSHAKE: continue_handshake(c); break;
    case LOGGING_IN: case SUBSCRIBING: case READY:
        if (events & EPOLLOUT) flush(c);
        if (c->state != ENDED && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
    }
}

/* Events that adapters report */

static void ready(struct connection *c) {
    c->state = READY;
    connections_ready++;
    connections_under_way--;
    histogram_add(&connection_times, now_ns() - c->started_ns);
}

/* The server accepted the login. */
void connection_logged_in(struct connection *c) {
    if (c->state != LOGGING_IN) return;
    if (!c->subscriber) {
        ready(c);
        return;
    }
    c->state = SUBSCRIBING;
    options.adapter->subscribe(c, c->channel);
}

/* The server confirmed the subscription. */
void connection_subscribed(struct connection *c) {
    if (c->state == SUBSCRIBING) ready(c);
}

/* A message arrived. The payload is the adapter's and isn't kept. */
void connection_message(struct connection *c, const uint8_t *payload, size_t size) {
    delivery_received(c->subscriber, payload, size);
}

/* The server confirmed a publish. */
void connection_acknowledged(void) { counters.acknowledged++; }

/* The server answered a ping. */
void connection_pong(void) { counters.pongs++; }

/* The server refused something, or what it sent makes no sense: ends the run. Returns -1, for parse() to return. */
int connection_refused(struct connection *c, const char *format, ...) {
    char reason[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (!connection_lost) run_fail("connection %u: %s", c->id, reason);
    return -1;
}
