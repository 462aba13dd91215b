/* What the two adapters of Redis's protocol share: that of pub/sub, and that of streams. */
#ifndef REDIS_H
#define REDIS_H

#include "adapter.h"
#include "connection.h"
#include "name.h"

void redis_log_in(struct connection *c);
void redis_ping(struct connection *c);

/* Reads a line like "$128\r\n" without its first letter. Returns the bytes of the line, 0 if it isn't complete. */
size_t redis_number(const uint8_t *line, size_t count, size_t *value);

/* Reads a line of its own: OK for the login, the number of receivers for a publish, or an error. Returns its bytes, 0 if it
 * isn't complete, and -1 after connection_refused(). */
ssize_t redis_line(struct connection *c, const uint8_t *bytes, size_t count);

#endif
