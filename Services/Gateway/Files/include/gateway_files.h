#pragma once
#include <stddef.h>

// A file that the gateway serves: its path below the root, such as "console/index.html", and its content.
struct gateway_file {
    const char *path;
    const unsigned char *bytes;
    size_t length;
};

extern const size_t gateway_files_count;

// From 0 to gateway_files_count - 1.
const struct gateway_file *gateway_file_at(size_t index);
