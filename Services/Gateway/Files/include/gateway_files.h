#pragma once
#include <stddef.h>

// A file that the gateway serves: its path below the root, such as "console/index.html", and its content. A script has a
// second path, whose name changes with the content, and the same compressed by gzip.
struct gateway_file {
    const char *path;
    const unsigned char *bytes;
    size_t length;
    const char *lasting_path;
    const unsigned char *gzipped;
    size_t gzipped_length;
};

extern const size_t gateway_files_count;

// From 0 to gateway_files_count - 1.
const struct gateway_file *gateway_file_at(size_t index);

// The classic scripts of the web client, or none.
const struct gateway_file *gateway_scripts(size_t *count);
