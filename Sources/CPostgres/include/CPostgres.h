// libpq, PostgreSQL's client library, loaded when it is first used. It and the libraries that it
// needs would be a quarter of the memory of an idle server.
//
// Call postern_libpq_load before anything else, from one thread. The other functions are those of
// libpq with the same names (PostgreSQL's manual, "libpq").
#pragma once
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

// Loads libpq. Returns NULL, or why that failed.
const char *postern_libpq_load(void);

void postern_PQclear(PGresult *res);
char *postern_PQcmdTuples(PGresult *res);
PGconn *postern_PQconnectdbParams(
    const char *const *keywords, const char *const *values, int expand_dbname);
void postern_PQconninfoFree(PQconninfoOption *connOptions);
PQconninfoOption *postern_PQconninfoParse(const char *conninfo, char **errmsg);
int postern_PQconsumeInput(PGconn *conn);
int postern_PQenterPipelineMode(PGconn *conn);
char *postern_PQerrorMessage(const PGconn *conn);
PGresult *postern_PQexec(PGconn *conn, const char *query);
int postern_PQexitPipelineMode(PGconn *conn);
void postern_PQfinish(PGconn *conn);
int postern_PQflush(PGconn *conn);
char *postern_PQfname(const PGresult *res, int field_num);
void postern_PQfreemem(void *ptr);
Oid postern_PQftype(const PGresult *res, int field_num);
PGresult *postern_PQgetResult(PGconn *conn);
int postern_PQgetisnull(const PGresult *res, int tup_num, int field_num);
int postern_PQgetlength(const PGresult *res, int tup_num, int field_num);
char *postern_PQgetvalue(const PGresult *res, int tup_num, int field_num);
int postern_PQisBusy(PGconn *conn);
char *postern_PQhost(const PGconn *conn);
PGnotify *postern_PQnotifies(PGconn *conn);
int postern_PQntuples(const PGresult *res);
const char *postern_PQparameterStatus(const PGconn *conn, const char *paramName);
PGpipelineStatus postern_PQpipelineStatus(const PGconn *conn);
int postern_PQpipelineSync(PGconn *conn);
char *postern_PQport(const PGconn *conn);
char *postern_PQresultErrorField(const PGresult *res, int fieldcode);
ExecStatusType postern_PQresultStatus(const PGresult *res);
int postern_PQsendPrepare(
    PGconn *conn, const char *stmtName, const char *query, int nParams, const Oid *paramTypes);
int postern_PQsendQueryPrepared(
    PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues,
    const int *paramLengths, const int *paramFormats, int resultFormat);
PQnoticeProcessor postern_PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor proc, void *arg);
int postern_PQsetnonblocking(PGconn *conn, int arg);
int postern_PQsocket(const PGconn *conn);
ConnStatusType postern_PQstatus(const PGconn *conn);
