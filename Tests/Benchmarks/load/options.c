#include "options.h"
#include "account.h"
#include "adapter.h"
#include "delivery.h"
#include "run.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD_BYTES_MAX = 64 * 1024, SUBSCRIBERS_MAX = 65535 };

struct options options = {
    .prefix = "load", .channels = 1, .subscribers = 1, .publishers = 1, .window = 1, .payload = 128, .sessions = 1000,
    .at_once = 200, .rate = 1000, .warm_up = 0.5, .seconds = 2, .quiet = 2,
};

static const struct option names[] = {
    { "adapter", required_argument, NULL, 'A' },
    { "workload", required_argument, NULL, 'W' },
    { "port", required_argument, NULL, 'P' },
    { "tls", no_argument, NULL, 'T' },
    { "server-pids", required_argument, NULL, 'I' },
    { "prefix", required_argument, NULL, 'X' },
    { "channels", required_argument, NULL, 'c' },
    { "subscribers", required_argument, NULL, 's' },
    { "publishers", required_argument, NULL, 'p' },
    { "window", required_argument, NULL, 'w' },
    { "payload", required_argument, NULL, 'b' },
    { "rate", required_argument, NULL, 'r' },
    { "sessions", required_argument, NULL, 'n' },
    { "at-once", required_argument, NULL, 'k' },
    { "first", required_argument, NULL, 'f' },
    { "heartbeat", required_argument, NULL, 'h' },
    { "crowd", required_argument, NULL, 'm' },
    { "together", no_argument, NULL, 'g' },
    { "no-channel", no_argument, NULL, 'o' },
    { "presence", no_argument, NULL, 'e' },
    { "warm-up", required_argument, NULL, 'u' },
    { "seconds", required_argument, NULL, 'd' },
    { "quiet", required_argument, NULL, 'q' },
    { NULL, 0, NULL, 0 },
};

static const char usage_text[] =
    "usage: load --adapter ceiling|heliograph|topics|mqtt|nats|jetstream|redis|streams --port N [--tls] [--server-pids ID,ID]\n"
    "            [--prefix NAME] [--first N] [--payload BYTES] [--warm-up S] [--seconds S] --workload W\n"
    "  closed  --channels N --subscribers N --publishers N --window N\n"
    "  open    --channels N --subscribers N --publishers N --rate DELIVERIES_PER_SECOND\n"
    "  idle    --sessions N --at-once N --quiet S\n"
    "  logins  --sessions N --at-once N [--together | --no-channel] [--presence]\n"
    "  stay    --sessions N --at-once N [--heartbeat S] [--crowd N]\n"
    "Subscribers, publishers and window are those of one channel.\n";

/* Says why, and how it is meant, and ends the program. */
static void refuse(const char *why) {
    fprintf(stderr, "load: %s\n%s", why, usage_text);
    exit(2);
}

/* Returns a whole number of at least 1. */
static uint32_t count_of(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || value < 1 || value > UINT32_MAX) refuse("a number makes no sense");
    return (uint32_t)value;
}

/* Returns a number that isn't negative. */
static double real_of(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || value < 0) refuse("a number makes no sense");
    return value;
}

/* Takes one option. */
static void take(int letter, char *value) {
    switch (letter) {
    case 'A': options.adapter = adapter_named(value); break;
    case 'W': options.workload = value; break;
    case 'P': options.port = (int)count_of(value); break;
    case 'T': options.tls = true; break;
    case 'I': account_for(value); break;
    case 'X': options.prefix = value; break;
    case 'c': options.channels = count_of(value); break;
    case 's': options.subscribers = count_of(value); break;
    case 'p': options.publishers = count_of(value); break;
    case 'w': options.window = count_of(value); break;
    case 'b': options.payload = count_of(value); break;
    case 'r': options.rate = real_of(value); break;
    case 'n': options.sessions = count_of(value); break;
    case 'g': options.together = true; break;
    case 'o': options.no_channel = true; break;
    case 'e': options.presence = true; break;
    case 'k': options.at_once = count_of(value); break;
    case 'f': options.first = count_of(value); break;
    case 'h': options.heartbeat = count_of(value); break;
    case 'm': options.crowd = count_of(value); break;
    case 'u': options.warm_up = real_of(value); break;
    case 'd': options.seconds = real_of(value); break;
    case 'q': options.quiet = real_of(value); break;
    default: refuse("an option is unknown");
    }
}

/* Fills in `options`. Ends the program with a usage text if they make no sense. */
void options_read(int argument_count, char **arguments) {
    int letter;
    while ((letter = getopt_long(argument_count, arguments, "", names, NULL)) != -1) take(letter, optarg);
    if (optind < argument_count) refuse("there are words that belong to no option");
    if (!options.adapter || !options.workload || !options.port) refuse("an adapter, a workload and a port are needed");
    if (options.payload < MESSAGE_HEADER_BYTES || options.payload > PAYLOAD_BYTES_MAX)
        refuse("a payload has 32 to 65536 bytes");
    if (options.subscribers > SUBSCRIBERS_MAX) refuse("a channel has at most 65535 subscribers");
    if (options.rate <= 0) refuse("a rate is more than 0");
    if (options.tls && !strcmp(options.workload, "stay")) refuse("stay has no TLS");
}
