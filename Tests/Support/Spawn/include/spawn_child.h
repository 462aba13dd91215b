#pragma once
#include <sys/types.h>

// In the place of a descriptor: that of the test, or /dev/null.
enum { SPAWN_INHERIT = -1, SPAWN_NULL = -2 };

// Starts a program with its standard input, output and errors, and with no other descriptor of the test: one that a child kept
// open would hold whoever reads to its end. Returns 0 or an errno.
int spawn_child(pid_t *pid, const char *program, char *const arguments[], char *const variables[], const char *directory,
                const int descriptors[3]);
