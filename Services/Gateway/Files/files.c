// Written by generate.py.

#include "gateway_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file_0[] = {
#embed "../../../Clients/web/src/agora-common.js"
};
static const unsigned char file_1[] = {
#embed "../../../Clients/web/src/agora-events.js"
};
static const unsigned char file_2[] = {
#embed "../../../Clients/web/src/agora-parts.js"
};
static const unsigned char file_3[] = {
#embed "../../../Clients/web/src/agora-rtm.js"
};
static const unsigned char file_4[] = {
#embed "../../../Clients/web/src/agora-storage.js"
};
static const unsigned char file_5[] = {
#embed "../../../Clients/web/src/agora-streams.js"
};
static const unsigned char file_6[] = {
#embed "../../../Clients/web/src/channels.js"
};
static const unsigned char file_7[] = {
#embed "../../../Clients/web/src/codes.js"
};
static const unsigned char file_8[] = {
#embed "../../../Clients/web/src/encryption.js"
};
static const unsigned char file_9[] = {
#embed "../../../Clients/web/src/errors.js"
};
static const unsigned char file_10[] = {
#embed "../../../Clients/web/src/events.js"
};
static const unsigned char file_11[] = {
#embed "../../../Clients/web/src/history-schema.js"
};
static const unsigned char file_12[] = {
#embed "../../../Clients/web/src/history.js"
};
static const unsigned char file_13[] = {
#embed "../../../Clients/web/src/index.js"
};
static const unsigned char file_14[] = {
#embed "../../../Clients/web/src/keys.js"
};
static const unsigned char file_15[] = {
#embed "../../../Clients/web/src/link.js"
};
static const unsigned char file_16[] = {
#embed "../../../Clients/web/src/lock-events.js"
};
static const unsigned char file_17[] = {
#embed "../../../Clients/web/src/locks-schema.js"
};
static const unsigned char file_18[] = {
#embed "../../../Clients/web/src/locks.js"
};
static const unsigned char file_19[] = {
#embed "../../../Clients/web/src/losses.js"
};
static const unsigned char file_20[] = {
#embed "../../../Clients/web/src/metadata.js"
};
static const unsigned char file_21[] = {
#embed "../../../Clients/web/src/names.js"
};
static const unsigned char file_22[] = {
#embed "../../../Clients/web/src/opening.js"
};
static const unsigned char file_23[] = {
#embed "../../../Clients/web/src/own-locks.js"
};
static const unsigned char file_24[] = {
#embed "../../../Clients/web/src/pacing-schema.js"
};
static const unsigned char file_25[] = {
#embed "../../../Clients/web/src/pacing.js"
};
static const unsigned char file_26[] = {
#embed "../../../Clients/web/src/page.js"
};
static const unsigned char file_27[] = {
#embed "../../../Clients/web/src/parts.js"
};
static const unsigned char file_28[] = {
#embed "../../../Clients/web/src/presence-schema.js"
};
static const unsigned char file_29[] = {
#embed "../../../Clients/web/src/presence.js"
};
static const unsigned char file_30[] = {
#embed "../../../Clients/web/src/publisher.js"
};
static const unsigned char file_31[] = {
#embed "../../../Clients/web/src/publishes.js"
};
static const unsigned char file_32[] = {
#embed "../../../Clients/web/src/refreshes.js"
};
static const unsigned char file_33[] = {
#embed "../../../Clients/web/src/requests.js"
};
static const unsigned char file_34[] = {
#embed "../../../Clients/web/src/roster.js"
};
static const unsigned char file_35[] = {
#embed "../../../Clients/web/src/rosters.js"
};
static const unsigned char file_36[] = {
#embed "../../../Clients/web/src/schema.js"
};
static const unsigned char file_37[] = {
#embed "../../../Clients/web/src/session.js"
};
static const unsigned char file_38[] = {
#embed "../../../Clients/web/src/states.js"
};
static const unsigned char file_39[] = {
#embed "../../../Clients/web/src/storage-schema.js"
};
static const unsigned char file_40[] = {
#embed "../../../Clients/web/src/storage.js"
};
static const unsigned char file_41[] = {
#embed "../../../Clients/web/src/streams-schema.js"
};
static const unsigned char file_42[] = {
#embed "../../../Clients/web/src/streams.js"
};
static const unsigned char file_43[] = {
#embed "../../../Clients/web/src/subscriptions.js"
};
static const unsigned char file_44[] = {
#embed "../../../Clients/web/src/time.js"
};
static const unsigned char file_45[] = {
#embed "../../../Clients/web/src/tokens.js"
};
static const unsigned char file_46[] = {
#embed "../../../Clients/web/src/topics.js"
};
static const unsigned char file_47[] = {
#embed "../../../Clients/web/src/wire.js"
};
static const unsigned char file_48[] = {
#embed "../../../Clients/web/sample/index.html"
};
static const unsigned char file_49[] = {
#embed "../../../Clients/web/sample/sample.css"
};
static const unsigned char file_50[] = {
#embed "../../../Clients/web/sample/sample.js"
};

static const struct gateway_file gateway_files[] = {
    {"web/src/agora-common.js", file_0, sizeof file_0},
    {"web/src/agora-events.js", file_1, sizeof file_1},
    {"web/src/agora-parts.js", file_2, sizeof file_2},
    {"web/src/agora-rtm.js", file_3, sizeof file_3},
    {"web/src/agora-storage.js", file_4, sizeof file_4},
    {"web/src/agora-streams.js", file_5, sizeof file_5},
    {"web/src/channels.js", file_6, sizeof file_6},
    {"web/src/codes.js", file_7, sizeof file_7},
    {"web/src/encryption.js", file_8, sizeof file_8},
    {"web/src/errors.js", file_9, sizeof file_9},
    {"web/src/events.js", file_10, sizeof file_10},
    {"web/src/history-schema.js", file_11, sizeof file_11},
    {"web/src/history.js", file_12, sizeof file_12},
    {"web/src/index.js", file_13, sizeof file_13},
    {"web/src/keys.js", file_14, sizeof file_14},
    {"web/src/link.js", file_15, sizeof file_15},
    {"web/src/lock-events.js", file_16, sizeof file_16},
    {"web/src/locks-schema.js", file_17, sizeof file_17},
    {"web/src/locks.js", file_18, sizeof file_18},
    {"web/src/losses.js", file_19, sizeof file_19},
    {"web/src/metadata.js", file_20, sizeof file_20},
    {"web/src/names.js", file_21, sizeof file_21},
    {"web/src/opening.js", file_22, sizeof file_22},
    {"web/src/own-locks.js", file_23, sizeof file_23},
    {"web/src/pacing-schema.js", file_24, sizeof file_24},
    {"web/src/pacing.js", file_25, sizeof file_25},
    {"web/src/page.js", file_26, sizeof file_26},
    {"web/src/parts.js", file_27, sizeof file_27},
    {"web/src/presence-schema.js", file_28, sizeof file_28},
    {"web/src/presence.js", file_29, sizeof file_29},
    {"web/src/publisher.js", file_30, sizeof file_30},
    {"web/src/publishes.js", file_31, sizeof file_31},
    {"web/src/refreshes.js", file_32, sizeof file_32},
    {"web/src/requests.js", file_33, sizeof file_33},
    {"web/src/roster.js", file_34, sizeof file_34},
    {"web/src/rosters.js", file_35, sizeof file_35},
    {"web/src/schema.js", file_36, sizeof file_36},
    {"web/src/session.js", file_37, sizeof file_37},
    {"web/src/states.js", file_38, sizeof file_38},
    {"web/src/storage-schema.js", file_39, sizeof file_39},
    {"web/src/storage.js", file_40, sizeof file_40},
    {"web/src/streams-schema.js", file_41, sizeof file_41},
    {"web/src/streams.js", file_42, sizeof file_42},
    {"web/src/subscriptions.js", file_43, sizeof file_43},
    {"web/src/time.js", file_44, sizeof file_44},
    {"web/src/tokens.js", file_45, sizeof file_45},
    {"web/src/topics.js", file_46, sizeof file_46},
    {"web/src/wire.js", file_47, sizeof file_47},
    {"web/sample/index.html", file_48, sizeof file_48},
    {"web/sample/sample.css", file_49, sizeof file_49},
    {"web/sample/sample.js", file_50, sizeof file_50},
};

const size_t gateway_files_count = sizeof gateway_files / sizeof gateway_files[0];

const struct gateway_file *gateway_file_at(size_t index) { return &gateway_files[index]; }
