#if !__has_include(<sqlite3.h>)
#error "SQLite's header is missing: 'make setup' installs it (Debian: libsqlite3-dev)"
#endif
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift does not import: the bytes are copied before the call returns. */
static inline int rtm_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

static inline int rtm_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return length == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                       : sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}
