/* What the two adapters of NATS's protocol share: that of core NATS, and that of JetStream. */
#ifndef NATS_H
#define NATS_H

#include "adapter.h"
#include "connection.h"
#include "name.h"

/* What a connection's adapter_state is once the server has sent its INFO; 0 before that. */
enum { NATS_GREETED = 1 };

/* A message came for the subscription with this number, of one digit. Returns 0, or -1 after connection_refused(). */
typedef int (*nats_message)(struct connection *c, char sid, const uint8_t *payload, size_t size);

/* Is called when the connection stands, which is too early: the server's INFO comes first, and nats_parse() goes on. */
void nats_log_in(struct connection *c);

/* Writes a PUB. `subject` may end with a space and the subject of the answer. */
void nats_publish(struct connection *c, const char *subject, int subject_size, const void *payload, size_t size);

void nats_ping(struct connection *c);
ssize_t nats_parse(struct connection *c, const uint8_t *bytes, size_t count, nats_message message);

#endif
