// Written by generate.py.

#include "gateway_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file_0[] = {
#embed "../../../Services/Gateway/Console/api.js"
};
static const unsigned char file_1[] = {
#embed "../../../Services/Gateway/Console/calls.js"
};
static const unsigned char file_2[] = {
#embed "../../../Services/Gateway/Console/configuration.js"
};
static const unsigned char file_3[] = {
#embed "../../../Services/Gateway/Console/console.css"
};
static const unsigned char file_4[] = {
#embed "../../../Services/Gateway/Console/console.js"
};
static const unsigned char file_5[] = {
#embed "../../../Services/Gateway/Console/dom.js"
};
static const unsigned char file_6[] = {
#embed "../../../Services/Gateway/Console/events.js"
};
static const unsigned char file_7[] = {
#embed "../../../Services/Gateway/Console/explain.js"
};
static const unsigned char file_8[] = {
#embed "../../../Services/Gateway/Console/icon.svg"
};
static const unsigned char file_9[] = {
#embed "../../../Services/Gateway/Console/index.html"
};
static const unsigned char file_10[] = {
#embed "../../../Services/Gateway/Console/inspector.js"
};
static const unsigned char file_11[] = {
#embed "../../../Services/Gateway/Console/keys.js"
};
static const unsigned char file_12[] = {
#embed "../../../Services/Gateway/Console/log.js"
};
static const unsigned char file_13[] = {
#embed "../../../Services/Gateway/Console/nodes.js"
};
static const unsigned char file_14[] = {
#embed "../../../Services/Gateway/Console/overview.js"
};
static const unsigned char file_15[] = {
#embed "../../../Services/Gateway/Console/storage.js"
};
static const unsigned char file_16[] = {
#embed "../../../Services/Gateway/Console/tail.js"
};
static const unsigned char file_17[] = {
#embed "../../../Services/Gateway/Console/top.js"
};
static const unsigned char file_18[] = {
#embed "../../../Services/Gateway/Console/view.js"
};
static const unsigned char file_19[] = {
#embed "../../../Services/Gateway/Console/webhooks.js"
};
static const unsigned char file_20[] = {
#embed "../../../Services/Gateway/Console/window.js"
};
static const unsigned char file_21[] = {
#embed "../../../Clients/web/src/agora-common.js"
};
static const unsigned char file_22[] = {
#embed "../../../Clients/web/src/agora-events.js"
};
static const unsigned char file_23[] = {
#embed "../../../Clients/web/src/agora-listeners.js"
};
static const unsigned char file_24[] = {
#embed "../../../Clients/web/src/agora-parts.js"
};
static const unsigned char file_25[] = {
#embed "../../../Clients/web/src/agora-permissions.js"
};
static const unsigned char file_26[] = {
#embed "../../../Clients/web/src/agora-rtm.js"
};
static const unsigned char file_27[] = {
#embed "../../../Clients/web/src/agora-storage.js"
};
static const unsigned char file_28[] = {
#embed "../../../Clients/web/src/agora-streams.js"
};
static const unsigned char file_29[] = {
#embed "../../../Clients/web/src/channels.js"
};
static const unsigned char file_30[] = {
#embed "../../../Clients/web/src/codes.js"
};
static const unsigned char file_31[] = {
#embed "../../../Clients/web/src/encryption.js"
};
static const unsigned char file_32[] = {
#embed "../../../Clients/web/src/errors.js"
};
static const unsigned char file_33[] = {
#embed "../../../Clients/web/src/events.js"
};
static const unsigned char file_34[] = {
#embed "../../../Clients/web/src/history-schema.js"
};
static const unsigned char file_35[] = {
#embed "../../../Clients/web/src/history.js"
};
static const unsigned char file_36[] = {
#embed "../../../Clients/web/src/index.js"
};
static const unsigned char file_37[] = {
#embed "../../../Clients/web/src/keys.js"
};
static const unsigned char file_38[] = {
#embed "../../../Clients/web/src/link.js"
};
static const unsigned char file_39[] = {
#embed "../../../Clients/web/src/lock-events.js"
};
static const unsigned char file_40[] = {
#embed "../../../Clients/web/src/locks-schema.js"
};
static const unsigned char file_41[] = {
#embed "../../../Clients/web/src/locks.js"
};
static const unsigned char file_42[] = {
#embed "../../../Clients/web/src/losses.js"
};
static const unsigned char file_43[] = {
#embed "../../../Clients/web/src/metadata.js"
};
static const unsigned char file_44[] = {
#embed "../../../Clients/web/src/names.js"
};
static const unsigned char file_45[] = {
#embed "../../../Clients/web/src/once.js"
};
static const unsigned char file_46[] = {
#embed "../../../Clients/web/src/opening.js"
};
static const unsigned char file_47[] = {
#embed "../../../Clients/web/src/own-locks.js"
};
static const unsigned char file_48[] = {
#embed "../../../Clients/web/src/pacing-schema.js"
};
static const unsigned char file_49[] = {
#embed "../../../Clients/web/src/pacing.js"
};
static const unsigned char file_50[] = {
#embed "../../../Clients/web/src/page.js"
};
static const unsigned char file_51[] = {
#embed "../../../Clients/web/src/parts.js"
};
static const unsigned char file_52[] = {
#embed "../../../Clients/web/src/patience.js"
};
static const unsigned char file_53[] = {
#embed "../../../Clients/web/src/presence-schema.js"
};
static const unsigned char file_54[] = {
#embed "../../../Clients/web/src/presence.js"
};
static const unsigned char file_55[] = {
#embed "../../../Clients/web/src/publisher.js"
};
static const unsigned char file_56[] = {
#embed "../../../Clients/web/src/publishes.js"
};
static const unsigned char file_57[] = {
#embed "../../../Clients/web/src/refreshes.js"
};
static const unsigned char file_58[] = {
#embed "../../../Clients/web/src/requests.js"
};
static const unsigned char file_59[] = {
#embed "../../../Clients/web/src/roster.js"
};
static const unsigned char file_60[] = {
#embed "../../../Clients/web/src/rosters.js"
};
static const unsigned char file_61[] = {
#embed "../../../Clients/web/src/schema.js"
};
static const unsigned char file_62[] = {
#embed "../../../Clients/web/src/session.js"
};
static const unsigned char file_63[] = {
#embed "../../../Clients/web/src/states.js"
};
static const unsigned char file_64[] = {
#embed "../../../Clients/web/src/storage-schema.js"
};
static const unsigned char file_65[] = {
#embed "../../../Clients/web/src/storage.js"
};
static const unsigned char file_66[] = {
#embed "../../../Clients/web/src/streams-schema.js"
};
static const unsigned char file_67[] = {
#embed "../../../Clients/web/src/streams.js"
};
static const unsigned char file_68[] = {
#embed "../../../Clients/web/src/subscriptions.js"
};
static const unsigned char file_69[] = {
#embed "../../../Clients/web/src/time.js"
};
static const unsigned char file_70[] = {
#embed "../../../Clients/web/src/tokens.js"
};
static const unsigned char file_71[] = {
#embed "../../../Clients/web/src/topics.js"
};
static const unsigned char file_72[] = {
#embed "../../../Clients/web/src/wire.js"
};
static const unsigned char file_73[] = {
#embed "../../../Clients/web/sample/index.html"
};
static const unsigned char file_74[] = {
#embed "../../../Clients/web/sample/sample.css"
};
static const unsigned char file_75[] = {
#embed "../../../Clients/web/sample/sample.js"
};
static const unsigned char file_76[] = {
#embed "../../../docs/http/openapi.yaml"
};

static const struct gateway_file gateway_files[] = {
    {"console/api.js", file_0, sizeof file_0},
    {"console/calls.js", file_1, sizeof file_1},
    {"console/configuration.js", file_2, sizeof file_2},
    {"console/console.css", file_3, sizeof file_3},
    {"console/console.js", file_4, sizeof file_4},
    {"console/dom.js", file_5, sizeof file_5},
    {"console/events.js", file_6, sizeof file_6},
    {"console/explain.js", file_7, sizeof file_7},
    {"console/icon.svg", file_8, sizeof file_8},
    {"console/index.html", file_9, sizeof file_9},
    {"console/inspector.js", file_10, sizeof file_10},
    {"console/keys.js", file_11, sizeof file_11},
    {"console/log.js", file_12, sizeof file_12},
    {"console/nodes.js", file_13, sizeof file_13},
    {"console/overview.js", file_14, sizeof file_14},
    {"console/storage.js", file_15, sizeof file_15},
    {"console/tail.js", file_16, sizeof file_16},
    {"console/top.js", file_17, sizeof file_17},
    {"console/view.js", file_18, sizeof file_18},
    {"console/webhooks.js", file_19, sizeof file_19},
    {"console/window.js", file_20, sizeof file_20},
    {"web/src/agora-common.js", file_21, sizeof file_21},
    {"web/src/agora-events.js", file_22, sizeof file_22},
    {"web/src/agora-listeners.js", file_23, sizeof file_23},
    {"web/src/agora-parts.js", file_24, sizeof file_24},
    {"web/src/agora-permissions.js", file_25, sizeof file_25},
    {"web/src/agora-rtm.js", file_26, sizeof file_26},
    {"web/src/agora-storage.js", file_27, sizeof file_27},
    {"web/src/agora-streams.js", file_28, sizeof file_28},
    {"web/src/channels.js", file_29, sizeof file_29},
    {"web/src/codes.js", file_30, sizeof file_30},
    {"web/src/encryption.js", file_31, sizeof file_31},
    {"web/src/errors.js", file_32, sizeof file_32},
    {"web/src/events.js", file_33, sizeof file_33},
    {"web/src/history-schema.js", file_34, sizeof file_34},
    {"web/src/history.js", file_35, sizeof file_35},
    {"web/src/index.js", file_36, sizeof file_36},
    {"web/src/keys.js", file_37, sizeof file_37},
    {"web/src/link.js", file_38, sizeof file_38},
    {"web/src/lock-events.js", file_39, sizeof file_39},
    {"web/src/locks-schema.js", file_40, sizeof file_40},
    {"web/src/locks.js", file_41, sizeof file_41},
    {"web/src/losses.js", file_42, sizeof file_42},
    {"web/src/metadata.js", file_43, sizeof file_43},
    {"web/src/names.js", file_44, sizeof file_44},
    {"web/src/once.js", file_45, sizeof file_45},
    {"web/src/opening.js", file_46, sizeof file_46},
    {"web/src/own-locks.js", file_47, sizeof file_47},
    {"web/src/pacing-schema.js", file_48, sizeof file_48},
    {"web/src/pacing.js", file_49, sizeof file_49},
    {"web/src/page.js", file_50, sizeof file_50},
    {"web/src/parts.js", file_51, sizeof file_51},
    {"web/src/patience.js", file_52, sizeof file_52},
    {"web/src/presence-schema.js", file_53, sizeof file_53},
    {"web/src/presence.js", file_54, sizeof file_54},
    {"web/src/publisher.js", file_55, sizeof file_55},
    {"web/src/publishes.js", file_56, sizeof file_56},
    {"web/src/refreshes.js", file_57, sizeof file_57},
    {"web/src/requests.js", file_58, sizeof file_58},
    {"web/src/roster.js", file_59, sizeof file_59},
    {"web/src/rosters.js", file_60, sizeof file_60},
    {"web/src/schema.js", file_61, sizeof file_61},
    {"web/src/session.js", file_62, sizeof file_62},
    {"web/src/states.js", file_63, sizeof file_63},
    {"web/src/storage-schema.js", file_64, sizeof file_64},
    {"web/src/storage.js", file_65, sizeof file_65},
    {"web/src/streams-schema.js", file_66, sizeof file_66},
    {"web/src/streams.js", file_67, sizeof file_67},
    {"web/src/subscriptions.js", file_68, sizeof file_68},
    {"web/src/time.js", file_69, sizeof file_69},
    {"web/src/tokens.js", file_70, sizeof file_70},
    {"web/src/topics.js", file_71, sizeof file_71},
    {"web/src/wire.js", file_72, sizeof file_72},
    {"web/sample/index.html", file_73, sizeof file_73},
    {"web/sample/sample.css", file_74, sizeof file_74},
    {"web/sample/sample.js", file_75, sizeof file_75},
    {"openapi.yaml", file_76, sizeof file_76},
};

const size_t gateway_files_count = sizeof gateway_files / sizeof gateway_files[0];

const struct gateway_file *gateway_file_at(size_t index) { return &gateway_files[index]; }

// Where scripts.c was made, it has them.
__attribute__((weak)) const struct gateway_file *gateway_scripts(size_t *count) {
    *count = 0;
    return 0;
}
