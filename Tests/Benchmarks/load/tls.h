/* TLS of a connection, by OpenSSL. The server's certificate isn't checked: it is one that signs itself. */
#ifndef TLS_H
#define TLS_H

#include "connection.h"
#include <sys/types.h>

enum tls_progress { TLS_DONE, TLS_AWAITS_INPUT, TLS_AWAITS_ROOM, TLS_FAILED };

/* Gives the connection a session of TLS, which it keeps for good. */
void tls_begin(struct connection *c);

/* Goes on with the handshake and says what it waits for. */
enum tls_progress tls_handshake(struct connection *c);

/* Like recv() and send(): -1 with EAGAIN if it has to wait. 0 is the end, orderly or not. */
ssize_t tls_read(struct connection *c, void *to, size_t size);
ssize_t tls_write(struct connection *c, const void *from, size_t size);

#endif
