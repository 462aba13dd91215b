/* The protocols that the generator speaks. */
#include "adapter.h"
#include <string.h>

static const struct adapter *const adapters[] = {
    &adapter_ceiling, &adapter_heliograph, &adapter_jetstream, &adapter_mqtt, &adapter_nats, &adapter_redis, &adapter_streams,
    &adapter_topics,
};

/* Returns the adapter of that name, or NULL. */
const struct adapter *adapter_named(const char *name) {
    for (size_t i = 0; i < sizeof adapters / sizeof *adapters; i++)
        if (!strcmp(adapters[i]->name, name)) return adapters[i];
    return NULL;
}
