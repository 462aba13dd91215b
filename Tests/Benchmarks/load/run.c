#include "run.h"
#include <stdarg.h>
#include <stdio.h>

struct counters counters;

static char failure[240];

/* Ends the run with an explanation. Only the first explanation is kept, because the others follow from it. */
void run_fail(const char *format, ...) {
    if (failure[0]) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
}

/* Returns the explanation, or NULL while all is well. */
const char *run_failure(void) { return failure[0] ? failure : NULL; }
