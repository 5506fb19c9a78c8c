// The highest rate of creations on SQLite: for the given seconds, one connection inserts the rows
// of an owner's new account with the statements and settings of Postern's writer, so many creations
// in each transaction. Prints creations per second of wall time, and CPU milliseconds per creation.
//
// Arguments: a database that Postern has made, with owners as mailboxes.py seeds them; seconds; and
// creations per transaction.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static sqlite3 *database;

static const char *const settings =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
    "PRAGMA journal_size_limit = 16777216;";

// Each binds the parameters that its text names: ?1 id, ?2 address, ?3 owner, ?4 time, ?5 another
// id, ?6 a time in the past.
enum { BEGIN, COMMIT, SAVEPOINT, RELEASE, OWNED, MADE, ACCOUNT, AUDIT, EVENT, COUNT };
static const char *const texts[COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [SAVEPOINT] = "SAVEPOINT one_write",
    [RELEASE] = "RELEASE one_write",
    [OWNED] = "SELECT 1 FROM account WHERE owner = ?3 LIMIT 1 OFFSET 999999",
    [MADE] = "SELECT 1 FROM (SELECT 1 FROM account WHERE owner = ?3 UNION ALL "
             "SELECT 1 FROM retired_address WHERE owner = ?3 AND retired > ?6) "
             "LIMIT 1 OFFSET 1999999",
    [ACCOUNT] = "INSERT INTO account (id, address, state, api_key_digest, credential_version, "
                "created, password_hash, owner, quota, used) "
                "SELECT ?1, ?2, 'active', NULL, 1, ?4, '$argon2id$v=19$m=8,t=1,p=1$"
                "AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', ?3, "
                "52428800, 0 WHERE NOT EXISTS (SELECT 1 FROM retired_address WHERE address = ?2) "
                "ON CONFLICT DO NOTHING",
    [AUDIT] = "INSERT INTO audit (kind, time, actor, subject, client, request_id, network, minute) "
              "VALUES ('account_created', ?4, 'user:' || ?3, ?2, '127.0.0.1', ?5, '127.0.0.1', "
              "NULL)",
    [EVENT] = "INSERT INTO account_event (id, kind, time, account, address, quota) "
              "VALUES (?5, 'account_created', ?4, ?1, ?2, 52428800)",
};
static sqlite3_stmt *statements[COUNT];

static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    exit(1);
}

static double read_clock(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void make_id(char *out) {
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != sizeof random) abort();
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
        out += sprintf(out, "%02x", random[i]);
    }
}

static void run(int which) {
    check(sqlite3_step(statements[which]));
    check(sqlite3_reset(statements[which]));
}

static void create(long number) {
    char id[37], other[37], address[64], owner[37];
    make_id(id);
    make_id(other);
    snprintf(address, sizeof address, "bare-%d-%ld@mail.test", (int)getpid(), number);
    snprintf(owner, sizeof owner, "%08x-0000-4000-8000-000000000000",
             (unsigned)(number % 1000 * 2654435761u));
    long long now = (long long)(read_clock(CLOCK_REALTIME) * 1e3);
    const char *strings[] = {NULL, id, address, owner, NULL, other};
    run(SAVEPOINT);
    for (int which = OWNED; which <= EVENT; which++) {
        sqlite3_stmt *statement = statements[which];
        for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++)
            check(i == 4   ? sqlite3_bind_int64(statement, i, now)
                  : i == 6 ? sqlite3_bind_int64(statement, i, now - 2592000000)
                           : sqlite3_bind_text(statement, i, strings[i], -1, SQLITE_TRANSIENT));
        run(which);
    }
    run(RELEASE);
}

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    double seconds = atof(argv[2]);
    int in_each = atoi(argv[3]);
    check(sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    check(sqlite3_exec(database, settings, NULL, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        check(sqlite3_prepare_v3(database, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i],
                                 NULL));
    long count = 0;
    double start = read_clock(CLOCK_MONOTONIC), now = start;
    double cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (; now < start + seconds; now = read_clock(CLOCK_MONOTONIC)) {
        run(BEGIN);
        for (int i = 0; i < in_each; i++) create(count++);
        run(COMMIT);
    }
    cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%f %f\n", count / (now - start), cpu / count * 1e3);
    return 0;
}
