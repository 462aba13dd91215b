/* Heliograph's stream channels: each channel of the generator is a topic of a stream channel of its own, and all subscribers
 * hear all its publishers. protocol/streams.md says what is sent.
 *
 * A subscriber joins (types 2 and 4) and hears the topic (type 5). A publisher joins, becomes a member of the topics, and
 * names its topic. Each step waits for the answer to the one before, and is known by the number of its request: Hello and
 * Login are 1 and 2. */
#include "delivery.h"
#include "heliograph.h"

enum { REQUEST_JOIN = 3, REQUEST_TOPICS = 4, REQUEST_HEAR = 5 };
enum { SET_STATE_CHANNEL_TYPE = 1, SET_STATE_CHANNEL = 2, SET_STATE_ITEMS = 3, ITEM_KEY = 1 };
enum { PUBLISHERS_MAX = 64 };

static const char topic[] = "t";

/* Writes the name of a channel's topic and returns its length. */
static size_t topic_name(char into[NAME_BYTES_MAX], uint32_t channel) {
    size_t size = channel_name(into, '-', channel);
    into[size++] = '/';
    memcpy(into + size, topic, sizeof topic - 1);
    return size + sizeof topic - 1;
}

/* Subscribes to the channel (type 2) or to who publishes its topics (type 4). */
static void subscribe_room(struct connection *c, int type, int features) {
    char name[NAME_BYTES_MAX];
    size_t size = channel_name(name, '-', c->channel);
    uint8_t *o = heliograph_frame(c, CLIENT_SUBSCRIBE, protobuf_bytes_size(SUBSCRIBE_CHANNEL, size)
        + protobuf_integer_size(SUBSCRIBE_FEATURES, features) + protobuf_integer_size(SUBSCRIBE_CHANNEL_TYPE, type));
    o = protobuf_bytes(o, SUBSCRIBE_CHANNEL, name, size);
    o = protobuf_integer(o, SUBSCRIBE_FEATURES, features);
    protobuf_integer(o, SUBSCRIBE_CHANNEL_TYPE, type);
}

/* The generator makes the connections of its subscribers before those of its publishers. */
static uint32_t first_publisher(uint32_t channel) { return crowd.subscriber_count + channel * crowd.publishers_each; }

static void hear(struct connection *c) {
    char name[NAME_BYTES_MAX], user[NAME_BYTES_MAX];
    size_t name_size = topic_name(name, c->channel);
    size_t size = protobuf_bytes_size(SUBSCRIBE_CHANNEL, name_size)
        + protobuf_integer_size(SUBSCRIBE_CHANNEL_TYPE, CHANNEL_TYPE_TOPIC);
    for (uint32_t i = 0; i < crowd.publishers_each; i++)
        size += protobuf_bytes_size(SUBSCRIBE_PUBLISHERS, heliograph_user(user, first_publisher(c->channel) + i));
    uint8_t *o = heliograph_frame(c, CLIENT_SUBSCRIBE, size);
    o = protobuf_bytes(o, SUBSCRIBE_CHANNEL, name, name_size);
    o = protobuf_integer(o, SUBSCRIBE_CHANNEL_TYPE, CHANNEL_TYPE_TOPIC);
    for (uint32_t i = 0; i < crowd.publishers_each; i++) {
        size_t user_size = heliograph_user(user, first_publisher(c->channel) + i);
        o = protobuf_bytes(o, SUBSCRIBE_PUBLISHERS, user, user_size);
    }
}

/* Says that the user publishes the topic. */
static void name_topic(struct connection *c) {
    char name[NAME_BYTES_MAX];
    size_t size = channel_name(name, '-', c->channel), item = protobuf_bytes_size(ITEM_KEY, sizeof topic - 1);
    uint8_t *o = heliograph_frame(c, CLIENT_SET_STATE, protobuf_integer_size(SET_STATE_CHANNEL_TYPE, CHANNEL_TYPE_TOPICS)
        + protobuf_bytes_size(SET_STATE_CHANNEL, size) + protobuf_bytes_size(SET_STATE_ITEMS, item));
    o = protobuf_integer(o, SET_STATE_CHANNEL_TYPE, CHANNEL_TYPE_TOPICS);
    o = protobuf_bytes(o, SET_STATE_CHANNEL, name, size);
    o = protobuf_head(o, SET_STATE_ITEMS, item);
    protobuf_bytes(o, ITEM_KEY, topic, sizeof topic - 1);
}

/* A publisher joins before the generator hears that it is logged in. */
static void logged_in(struct connection *c) {
    if (c->subscriber) connection_logged_in(c);
    else subscribe_room(c, CHANNEL_TYPE_STREAM, options.presence ? FEATURE_PRESENCE : 0);
}

static void subscribe(struct connection *c, uint32_t channel) {
    if (crowd.publishers_each > PUBLISHERS_MAX) {
        connection_refused(c, "a topic is heard from at most %d publishers", PUBLISHERS_MAX);
        return;
    }
    c->channel = channel;
    subscribe_room(c, CHANNEL_TYPE_STREAM, options.presence ? FEATURE_PRESENCE : 0);
}

static void subscribed(struct connection *c) {
    switch (c->adapter_state) {
    case REQUEST_JOIN: subscribe_room(c, CHANNEL_TYPE_TOPICS, FEATURE_PRESENCE | (c->subscriber ? FEATURE_QUIET : 0)); break;
    case REQUEST_TOPICS: if (c->subscriber) hear(c); else name_topic(c); break;
    case REQUEST_HEAR: connection_subscribed(c); break;
    }
}

/* The message's type is binary, which is 0 and therefore left out. */
static void publish(struct connection *c, uint32_t channel, const void *payload, size_t size) {
    char name[NAME_BYTES_MAX];
    size_t name_size = topic_name(name, channel);
    uint8_t *o = heliograph_frame(c, CLIENT_PUBLISH, protobuf_integer_size(PUBLISH_CHANNEL_TYPE, CHANNEL_TYPE_TOPIC)
        + protobuf_bytes_size(PUBLISH_CHANNEL, name_size) + protobuf_bytes_size(PUBLISH_PAYLOAD, size));
    o = protobuf_integer(o, PUBLISH_CHANNEL_TYPE, CHANNEL_TYPE_TOPIC);
    o = protobuf_bytes(o, PUBLISH_CHANNEL, name, name_size);
    protobuf_bytes(o, PUBLISH_PAYLOAD, payload, size);
}

static ssize_t parse(struct connection *c, const uint8_t *bytes, size_t count) {
    static const struct heliograph_steps steps = { logged_in, subscribed, connection_logged_in };
    return heliograph_parse(c, bytes, count, &steps);
}

const struct adapter adapter_topics = {
    .name = "topics", .log_in = heliograph_log_in, .subscribe = subscribe, .publish = publish, .ping = heliograph_ping,
    .parse = parse,
};
