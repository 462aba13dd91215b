#include "ledger_texts.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char configuration[] = {
#embed "../configuration.txt"
};
static const unsigned char calls[] = {
#embed "../calls.txt"
};
static const unsigned char options[] = {
#embed "../options.txt"
};
static const unsigned char data[] = {
#embed "../data.txt"
};
static const unsigned char events[] = {
#embed "../events.txt"
};
static const unsigned char responses[] = {
#embed "../responses.txt"
};

static const struct ledger_text texts[] = {
    {configuration, sizeof configuration},
    {calls, sizeof calls},
    {options, sizeof options},
    {data, sizeof data},
    {events, sizeof events},
    {responses, sizeof responses},
};

const size_t ledger_texts_count = sizeof texts / sizeof texts[0];

struct ledger_text ledger_text_at(size_t index) { return texts[index]; }
