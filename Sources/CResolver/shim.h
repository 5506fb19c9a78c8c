// libresolv: the system's nameservers, and writing of queries and reading of answers. Inline
// functions only, for macros and unions that Swift does not import.
#pragma once
#include <netinet/in.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include <string.h>

// The nameservers that the system is configured with, at most `capacity`. Returns their
// number, or -1 when they are not known.
static inline int cresolver_servers(struct sockaddr_storage *servers, int capacity) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return -1;
    int count = 0;
    for (int i = 0; i < state.nscount && count < capacity; i++) {
        // IPv6 addresses are in a second list, at the indices where the first has none.
        if (state.nsaddr_list[i].sin_family == AF_INET)
            memcpy(&servers[count++], &state.nsaddr_list[i], sizeof(struct sockaddr_in));
        else if (state._u._ext.nsaddrs[i] != NULL)
            memcpy(&servers[count++], state._u._ext.nsaddrs[i], sizeof(struct sockaddr_in6));
    }
    res_nclose(&state);
    return count;
}

// Sets how getaddrinfo of this thread asks the DNS until cresolver_forget: how often, how many
// seconds each time, and only for the name itself, not for the name in the system's search domains.
static inline int cresolver_ask(int tries, int seconds) {
    res_state state = __res_state();
    if (!(state->options & RES_INIT) && res_ninit(state) != 0) return -1;
    state->retry = tries;
    state->retrans = seconds;
    state->options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
    return 0;
}

// Frees the settings of this thread, so that they are read from the system's configuration again.
static inline void cresolver_forget(void) {
    res_state state = __res_state();
    if (state->options & RES_INIT) res_nclose(state);
    state->options &= ~(unsigned long)RES_INIT;
}

// Writes a question with recursion desired. Returns its length, or -1 for an invalid name.
static inline int cresolver_question(const char *name, int type, unsigned char *query, int capacity) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return -1;
    int length = res_nmkquery(
        &state, ns_o_query, name, ns_c_in, type, NULL, 0, NULL, query, capacity);
    res_nclose(&state);
    return length;
}

// Starts to read a message. Returns the number of records in its answer section, or -1.
static inline int cresolver_read(const unsigned char *bytes, int length, ns_msg *message) {
    if (ns_initparse(bytes, length, message) != 0) return -1;
    return ns_msg_count(*message, ns_s_an);
}

// Reads one record of the answer section. Returns its type, 0 for a record of another class, or -1.
static inline int cresolver_record(
    ns_msg *message, int index, const unsigned char **data, int *length) {
    ns_rr record;
    if (ns_parserr(message, ns_s_an, index, &record) != 0) return -1;
    *data = ns_rr_rdata(record);
    *length = ns_rr_rdlen(record);
    return ns_rr_class(record) == ns_c_in ? (int)ns_rr_type(record) : 0;
}

// Reads the name at `start`, which must be in the message. Returns its length there, or -1.
static inline int cresolver_name(
    const ns_msg *message, const unsigned char *start, char *text, int capacity) {
    return dn_expand(ns_msg_base(*message), ns_msg_end(*message), start, text, capacity);
}
