#include "tls.h"
#include <errno.h>
#include <limits.h>
#include <openssl/ssl.h>

/* Returns what all sessions share, made at the first call. */
static SSL_CTX *context(void) {
    static SSL_CTX *shared;
    if (shared) return shared;
    shared = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(shared, SSL_VERIFY_NONE, NULL);
    /* The output buffer may grow and move between two attempts to write the same bytes. */
    SSL_CTX_set_mode(shared,
        SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return shared;
}

/* Gives the connection a session of TLS, which it keeps for good. */
void tls_begin(struct connection *c) {
    SSL *session = SSL_new(context());
    SSL_set_fd(session, c->fd);
    SSL_set_connect_state(session);
    SSL_set_tlsext_host_name(session, "localhost");
    c->tls = session;
}

/* Goes on with the handshake and says what it waits for. */
enum tls_progress tls_handshake(struct connection *c) {
    int result = SSL_do_handshake(c->tls);
    if (result == 1) return TLS_DONE;
    switch (SSL_get_error(c->tls, result)) {
    case SSL_ERROR_WANT_READ: return TLS_AWAITS_INPUT;
    case SSL_ERROR_WANT_WRITE: return TLS_AWAITS_ROOM;
    default: return TLS_FAILED;
    }
}

/* Turns OpenSSL's result into one like that of recv() and send(). */
static ssize_t outcome(struct connection *c, int result) {
    if (result > 0) return result;
    int error = SSL_get_error(c->tls, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return 0;
    errno = EAGAIN;
    return -1;
}

static int at_most(size_t size) { return size > INT_MAX ? INT_MAX : (int)size; }

/* Like recv(): -1 with EAGAIN if it has to wait. 0 is the end, orderly or not. */
ssize_t tls_read(struct connection *c, void *to, size_t size) { return outcome(c, SSL_read(c->tls, to, at_most(size))); }

/* Like send(): -1 with EAGAIN if it has to wait. 0 is the end, orderly or not. */
ssize_t tls_write(struct connection *c, const void *from, size_t size) {
    return outcome(c, SSL_write(c->tls, from, at_most(size)));
}
