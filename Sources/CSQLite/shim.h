// SQLite.
#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast, which Swift does not import: SQLite copies before it returns.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int size) {
    // A null pointer would bind NULL.
    return sqlite3_bind_text(statement, index, text ? text : "", size, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int size) {
    // A null pointer would bind NULL, but an empty blob is a value.
    return size == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                     : sqlite3_bind_blob(statement, index, bytes, size, SQLITE_TRANSIENT);
}

// Variadic, which Swift does not import. Afterwards SQL statements cannot damage the database file.
static inline int csqlite_defend(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

// Variadic, too. SQLite counts the memory that it uses, under one lock for all threads: twenty times in a request.
// Nothing here reads the count. Only before the first connection.
static inline int csqlite_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
