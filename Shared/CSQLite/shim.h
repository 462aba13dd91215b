#if !__has_include(<sqlite3.h>)
#error "SQLite's header is missing: 'make setup' installs it (Debian: libsqlite3-dev)"
#endif
#include <sqlite3.h>

/* Without statistics of its memory SQLite needs no lock for each allocation. Only before its first use; Swift
   doesn't import functions with a variable number of arguments. */
static inline int rtm_sqlite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
