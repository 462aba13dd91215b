/* What the generator asks of a protocol. An adapter only translates: requests into bytes, and bytes into the events of
 * connection.h. Windows, clocks, counting and checking live in the generator, so that every server is driven and judged
 * by the same code. A new protocol is one file adapter_NAME.c and one line in adapter.c. */
#ifndef ADAPTER_H
#define ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct connection;

struct adapter {
    const char *name;

    /* The server greets in clear text before TLS begins. The adapter then calls connection_start_tls() itself. */
    bool greets_before_tls;

    /* The connection stands, with TLS if there is any: write a login. The adapter answers with connection_logged_in(). */
    void (*log_in)(struct connection *c);

    /* Write a subscribe. The adapter answers with connection_subscribed() once messages are sure to arrive. */
    void (*subscribe)(struct connection *c, uint32_t channel);

    /* Write a publish. The payload belongs to the caller and is copied. */
    void (*publish)(struct connection *c, uint32_t channel, const void *payload, size_t size);

    /* Write what keeps an idle session alive. The adapter reports the answer with connection_pong(). */
    void (*ping)(struct connection *c);

    /* Take the whole frames from the start of `bytes` and report each as an event. Returns how many bytes were taken,
     * 0 if the first frame isn't complete, and -1 after connection_refused(). */
    ssize_t (*parse)(struct connection *c, const uint8_t *bytes, size_t count);
};

extern const struct adapter adapter_ceiling, adapter_heliograph, adapter_jetstream, adapter_mqtt, adapter_nats, adapter_redis,
    adapter_streams, adapter_topics;

/* Returns the adapter of that name, or NULL. */
const struct adapter *adapter_named(const char *name);

#endif
