/* What a moment of the run has cost so far: the processor time of the server, of the generator and of everybody else,
 * and the server's memory. Two moments make a measurement. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include "run.h"

struct moment {
    uint64_t at_ns;
    uint64_t server_ns;     /* Processor time of all server processes, all threads, user and kernel. */
    uint64_t generator_ns;
    double busy_s;          /* Processor time of the whole machine, the server and the generator included. */
    double stolen_s;        /* Time in which the machine's owner let somebody else run. */
    long resident_kb;       /* Resident memory of all server processes, and the most that it has been. */
    long resident_peak_kb;
    struct counters counters;
};

/* Names the server's processes: a list of ids with commas between them. Ids that don't exist are passed over. */
void account_for(const char *process_ids);

/* Returns this moment. */
struct moment account_now(void);

#endif
