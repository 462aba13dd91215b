// Written by generate.py.

#include "gateway_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file_0[] = {
#embed "../../../Clients/web/src/agora-rtm.js"
};
static const unsigned char file_1[] = {
#embed "../../../Clients/web/src/client.js"
};
static const unsigned char file_2[] = {
#embed "../../../Clients/web/src/clock.js"
};
static const unsigned char file_3[] = {
#embed "../../../Clients/web/src/codes.js"
};
static const unsigned char file_4[] = {
#embed "../../../Clients/web/src/encryption.js"
};
static const unsigned char file_5[] = {
#embed "../../../Clients/web/src/errors.js"
};
static const unsigned char file_6[] = {
#embed "../../../Clients/web/src/events.js"
};
static const unsigned char file_7[] = {
#embed "../../../Clients/web/src/heartbeat.js"
};
static const unsigned char file_8[] = {
#embed "../../../Clients/web/src/index.js"
};
static const unsigned char file_9[] = {
#embed "../../../Clients/web/src/link.js"
};
static const unsigned char file_10[] = {
#embed "../../../Clients/web/src/locks.js"
};
static const unsigned char file_11[] = {
#embed "../../../Clients/web/src/names.js"
};
static const unsigned char file_12[] = {
#embed "../../../Clients/web/src/publishes.js"
};
static const unsigned char file_13[] = {
#embed "../../../Clients/web/src/roster.js"
};
static const unsigned char file_14[] = {
#embed "../../../Clients/web/src/schema.js"
};
static const unsigned char file_15[] = {
#embed "../../../Clients/web/src/session.js"
};
static const unsigned char file_16[] = {
#embed "../../../Clients/web/src/states.js"
};
static const unsigned char file_17[] = {
#embed "../../../Clients/web/src/streams.js"
};
static const unsigned char file_18[] = {
#embed "../../../Clients/web/src/subscriptions.js"
};
static const unsigned char file_19[] = {
#embed "../../../Clients/web/src/wire.js"
};
static const unsigned char file_20[] = {
#embed "../../../Clients/web/sample/index.html"
};
static const unsigned char file_21[] = {
#embed "../../../Clients/web/sample/sample.css"
};
static const unsigned char file_22[] = {
#embed "../../../Clients/web/sample/sample.js"
};

static const struct gateway_file gateway_files[] = {
    {"web/src/agora-rtm.js", file_0, sizeof file_0},
    {"web/src/client.js", file_1, sizeof file_1},
    {"web/src/clock.js", file_2, sizeof file_2},
    {"web/src/codes.js", file_3, sizeof file_3},
    {"web/src/encryption.js", file_4, sizeof file_4},
    {"web/src/errors.js", file_5, sizeof file_5},
    {"web/src/events.js", file_6, sizeof file_6},
    {"web/src/heartbeat.js", file_7, sizeof file_7},
    {"web/src/index.js", file_8, sizeof file_8},
    {"web/src/link.js", file_9, sizeof file_9},
    {"web/src/locks.js", file_10, sizeof file_10},
    {"web/src/names.js", file_11, sizeof file_11},
    {"web/src/publishes.js", file_12, sizeof file_12},
    {"web/src/roster.js", file_13, sizeof file_13},
    {"web/src/schema.js", file_14, sizeof file_14},
    {"web/src/session.js", file_15, sizeof file_15},
    {"web/src/states.js", file_16, sizeof file_16},
    {"web/src/streams.js", file_17, sizeof file_17},
    {"web/src/subscriptions.js", file_18, sizeof file_18},
    {"web/src/wire.js", file_19, sizeof file_19},
    {"web/sample/index.html", file_20, sizeof file_20},
    {"web/sample/sample.css", file_21, sizeof file_21},
    {"web/sample/sample.js", file_22, sizeof file_22},
};

const size_t gateway_files_count = sizeof gateway_files / sizeof gateway_files[0];

const struct gateway_file *gateway_file_at(size_t index) { return &gateway_files[index]; }
