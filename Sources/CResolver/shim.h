// libresolv: the system's nameservers, the writing of queries and the reading of answers. Inline
// functions only, for macros and for unions that Swift cannot look into.
#pragma once
#include <netinet/in.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <string.h>

// The nameservers that the system is configured with, `room` at most; -1 when it cannot be told.
static inline int cresolver_servers(struct sockaddr_storage *servers, int room) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return -1;
    int count = 0;
    for (int i = 0; i < state.nscount && count < room; i++) {
        // IPv6 ones are beside the list, where the list has none.
        if (state.nsaddr_list[i].sin_family == AF_INET)
            memcpy(&servers[count++], &state.nsaddr_list[i], sizeof(struct sockaddr_in));
        else if (state._u._ext.nsaddrs[i] != NULL)
            memcpy(&servers[count++], state._u._ext.nsaddrs[i], sizeof(struct sockaddr_in6));
    }
    res_nclose(&state);
    return count;
}

// How this thread's getaddrinfo asks the DNS until cresolver_forget: so often, so many seconds each
// time, and for the name as it is written, not with the system's search domains behind it.
static inline int cresolver_ask(int tries, int seconds) {
    res_state state = __res_state();
    if (!(state->options & RES_INIT) && res_ninit(state) != 0) return -1;
    state->retry = tries;
    state->retrans = seconds;
    state->options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
    return 0;
}

// What was changed is not read from the system's configuration again, so nothing is kept of it.
static inline void cresolver_forget(void) {
    res_state state = __res_state();
    if (state->options & RES_INIT) res_nclose(state);
    state->options &= ~(unsigned long)RES_INIT;
}

// One question with recursion desired: its length, or -1 for a name that cannot be asked for.
static inline int cresolver_question(const char *name, int type, unsigned char *query, int room) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return -1;
    int length = res_nmkquery(
        &state, ns_o_query, name, ns_c_in, type, NULL, 0, NULL, query, room);
    res_nclose(&state);
    return length;
}

// Begins to read a message: the number of records in its answer section, or -1.
static inline int cresolver_read(const unsigned char *octets, int length, ns_msg *message) {
    if (ns_initparse(octets, length, message) != 0) return -1;
    return ns_msg_count(*message, ns_s_an);
}

// The type of one record of the answer section and where its data is, or -1; 0 for a record of
// another class.
static inline int cresolver_record(
    ns_msg *message, int index, const unsigned char **data, int *length) {
    ns_rr record;
    if (ns_parserr(message, ns_s_an, index, &record) != 0) return -1;
    *data = ns_rr_rdata(record);
    *length = ns_rr_rdlen(record);
    return ns_rr_class(record) == ns_c_in ? (int)ns_rr_type(record) : 0;
}

// The name at `start`, which lies in the message: its length there, or -1.
static inline int cresolver_name(
    const ns_msg *message, const unsigned char *start, char *text, int room) {
    return dn_expand(ns_msg_base(*message), ns_msg_end(*message), start, text, room);
}
