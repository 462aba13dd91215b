#pragma once
#include <stddef.h>

// A chapter of the ledger. SwiftPM's own way to embed a file makes an array literal of it, whose bytes the compiler
// types one by one: the ledger took it ten seconds.
struct ledger_text {
    const unsigned char *bytes;
    size_t length;
};

extern const size_t ledger_texts_count;

// From 0 to ledger_texts_count - 1, in the order of the document.
struct ledger_text ledger_text_at(size_t index);
