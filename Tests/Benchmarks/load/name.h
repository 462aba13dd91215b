/* The names of channels: the run's prefix, a separator that the protocol likes, and the channel's number. */
#ifndef NAME_H
#define NAME_H

#include "run.h"
#include <stddef.h>
#include <string.h>

enum { NAME_BYTES_MAX = 96 };

/* Writes the name of a channel and returns its length. No NUL is written. This is called for each publish, so it
 * doesn't go through snprintf(). */
static inline size_t channel_name(char into[NAME_BYTES_MAX], char separator, uint32_t channel) {
    char digits[10];
    size_t count = 0, length = strlen(options.prefix);
    do { digits[count++] = (char)('0' + channel % 10); } while (channel /= 10);
    memcpy(into, options.prefix, length);
    into[length++] = separator;
    while (count) into[length++] = digits[--count];
    return length;
}

#endif
