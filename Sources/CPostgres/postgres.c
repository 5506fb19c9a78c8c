#include "CPostgres.h"
#include <dlfcn.h>

#define FUNCTIONS(X) \
    X(PQclear) X(PQcmdTuples) X(PQconnectdbParams) X(PQconninfoFree) X(PQconninfoParse) \
    X(PQconsumeInput) X(PQenterPipelineMode) X(PQerrorMessage) X(PQexec) X(PQexitPipelineMode) \
    X(PQfinish) X(PQflush) X(PQfname) X(PQfreemem) X(PQftype) X(PQgetResult) X(PQgetisnull) \
    X(PQgetlength) X(PQgetvalue) X(PQhost) X(PQisBusy) X(PQnotifies) X(PQntuples) \
    X(PQparameterStatus) X(PQpipelineStatus) X(PQpipelineSync) X(PQport) \
    X(PQresultErrorField) X(PQresultStatus) \
    X(PQsendPrepare) X(PQsendQueryPrepared) X(PQsetNoticeProcessor) X(PQsetnonblocking) \
    X(PQsocket) X(PQstatus)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} api;

const char *postern_libpq_load(void) {
    // The name of libpq's interface since 2005; pipelines came with PostgreSQL 14. Never closed.
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define LOAD(name) \
    api.name = (__typeof__(api.name))dlsym(library, #name); \
    if (!api.name) return "libpq.so.5 has no " #name;
    FUNCTIONS(LOAD)
    return NULL;
}

void postern_PQclear(PGresult *res) {
    api.PQclear(res);
}

char *postern_PQcmdTuples(PGresult *res) {
    return api.PQcmdTuples(res);
}

PGconn *postern_PQconnectdbParams(
    const char *const *keywords, const char *const *values, int expand_dbname) {
    return api.PQconnectdbParams(keywords, values, expand_dbname);
}

void postern_PQconninfoFree(PQconninfoOption *connOptions) {
    api.PQconninfoFree(connOptions);
}

PQconninfoOption *postern_PQconninfoParse(const char *conninfo, char **errmsg) {
    return api.PQconninfoParse(conninfo, errmsg);
}

int postern_PQconsumeInput(PGconn *conn) {
    return api.PQconsumeInput(conn);
}

int postern_PQenterPipelineMode(PGconn *conn) {
    return api.PQenterPipelineMode(conn);
}

char *postern_PQerrorMessage(const PGconn *conn) {
    return api.PQerrorMessage(conn);
}

PGresult *postern_PQexec(PGconn *conn, const char *query) {
    return api.PQexec(conn, query);
}

int postern_PQexitPipelineMode(PGconn *conn) {
    return api.PQexitPipelineMode(conn);
}

void postern_PQfinish(PGconn *conn) {
    api.PQfinish(conn);
}

int postern_PQflush(PGconn *conn) {
    return api.PQflush(conn);
}

char *postern_PQfname(const PGresult *res, int field_num) {
    return api.PQfname(res, field_num);
}

void postern_PQfreemem(void *ptr) {
    api.PQfreemem(ptr);
}

Oid postern_PQftype(const PGresult *res, int field_num) {
    return api.PQftype(res, field_num);
}

PGresult *postern_PQgetResult(PGconn *conn) {
    return api.PQgetResult(conn);
}

int postern_PQgetisnull(const PGresult *res, int tup_num, int field_num) {
    return api.PQgetisnull(res, tup_num, field_num);
}

int postern_PQgetlength(const PGresult *res, int tup_num, int field_num) {
    return api.PQgetlength(res, tup_num, field_num);
}

char *postern_PQgetvalue(const PGresult *res, int tup_num, int field_num) {
    return api.PQgetvalue(res, tup_num, field_num);
}

char *postern_PQhost(const PGconn *conn) {
    return api.PQhost(conn);
}

int postern_PQisBusy(PGconn *conn) {
    return api.PQisBusy(conn);
}

PGnotify *postern_PQnotifies(PGconn *conn) {
    return api.PQnotifies(conn);
}

int postern_PQntuples(const PGresult *res) {
    return api.PQntuples(res);
}

const char *postern_PQparameterStatus(const PGconn *conn, const char *paramName) {
    return api.PQparameterStatus(conn, paramName);
}

PGpipelineStatus postern_PQpipelineStatus(const PGconn *conn) {
    return api.PQpipelineStatus(conn);
}

int postern_PQpipelineSync(PGconn *conn) {
    return api.PQpipelineSync(conn);
}

char *postern_PQport(const PGconn *conn) {
    return api.PQport(conn);
}

char *postern_PQresultErrorField(const PGresult *res, int fieldcode) {
    return api.PQresultErrorField(res, fieldcode);
}

ExecStatusType postern_PQresultStatus(const PGresult *res) {
    return api.PQresultStatus(res);
}

int postern_PQsendPrepare(
    PGconn *conn, const char *stmtName, const char *query, int nParams, const Oid *paramTypes) {
    return api.PQsendPrepare(conn, stmtName, query, nParams, paramTypes);
}

int postern_PQsendQueryPrepared(
    PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues,
    const int *paramLengths, const int *paramFormats, int resultFormat) {
    return api.PQsendQueryPrepared(
    conn, stmtName, nParams, paramValues, paramLengths, paramFormats, resultFormat);
}

PQnoticeProcessor postern_PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor proc, void *arg) {
    return api.PQsetNoticeProcessor(conn, proc, arg);
}

int postern_PQsetnonblocking(PGconn *conn, int arg) {
    return api.PQsetnonblocking(conn, arg);
}

int postern_PQsocket(const PGconn *conn) {
    return api.PQsocket(conn);
}

ConnStatusType postern_PQstatus(const PGconn *conn) {
    return api.PQstatus(conn);
}
