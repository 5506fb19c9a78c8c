#include "CCurl.h"

// The header's macros that check the last argument would call the linked functions.
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FUNCTIONS(X) \
    X(curl_global_init) X(curl_easy_init) X(curl_easy_cleanup) X(curl_easy_perform) \
    X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_easy_strerror) \
    X(curl_slist_append) X(curl_slist_free_all) X(curl_multi_init) X(curl_multi_cleanup) \
    X(curl_multi_setopt) X(curl_multi_add_handle) X(curl_multi_remove_handle) \
    X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_info_read)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
    // Of the OpenSSL that libcurl uses; NULL if it uses another library.
    long (*SSL_CTX_ctrl)(void *context, int command, long number, void *pointer);
} api;

const char *postern_curl_load(void) {
    // The name of libcurl's stable interface since 2006. Never closed.
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define LOAD(name) \
    api.name = (__typeof__(api.name))dlsym(library, #name); \
    if (!api.name) return "libcurl.so.4 has no " #name;
    FUNCTIONS(LOAD)
    api.SSL_CTX_ctrl = (__typeof__(api.SSL_CTX_ctrl))dlsym(library, "SSL_CTX_ctrl");
    CURLcode code = api.curl_global_init(CURL_GLOBAL_DEFAULT);
    return code == CURLE_OK ? NULL : api.curl_easy_strerror(code);
}

CURL *postern_curl_new(void) { return api.curl_easy_init(); }

// libcurl traces the end of a connection, too.
static void end_trace(CURL *handle) { api.curl_easy_setopt(handle, CURLOPT_VERBOSE, 0L); }

void postern_curl_free(CURL *handle) {
    end_trace(handle);
    api.curl_easy_cleanup(handle);
}

CURLcode postern_curl_perform(CURL *handle) { return api.curl_easy_perform(handle); }

const char *postern_curl_error(CURLcode code) { return api.curl_easy_strerror(code); }

struct curl_slist *postern_curl_append(struct curl_slist *list, const char *text) {
    return api.curl_slist_append(list, text);
}

void postern_curl_free_list(struct curl_slist *list) { api.curl_slist_free_all(list); }

CURLcode postern_curl_set_long(CURL *handle, CURLoption option, long value) {
    return api.curl_easy_setopt(handle, option, value);
}

CURLcode postern_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return api.curl_easy_setopt(handle, option, value);
}

CURLcode postern_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return api.curl_easy_setopt(handle, option, value);
}

CURLcode postern_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return api.curl_easy_setopt(handle, option, value);
}

CURLcode postern_curl_set_context(CURL *handle, CURLoption option, void *value) {
    return api.curl_easy_setopt(handle, option, value);
}

CURLcode postern_curl_set_sink(
    CURL *handle, CURLoption option, size_t (*value)(char *, size_t, size_t, void *)) {
    return api.curl_easy_setopt(handle, option, value);
}

CURLcode postern_curl_set_progress(
    CURL *handle, int (*value)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
    CURLcode code = api.curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
    return code == CURLE_OK ? api.curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L) : code;
}

CURLcode postern_curl_set_trace(
    CURL *handle, int (*value)(CURL *, curl_infotype, char *, size_t, void *)) {
    CURLcode code = api.curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, value);
    return code == CURLE_OK ? api.curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L) : code;
}

static CURLcode read_by_record(CURL *handle, void *context, void *unused) {
    enum { SSL_CTRL_CLEAR_MODE = 78, SSL_MODE_AUTO_RETRY = 4 };
    api.SSL_CTX_ctrl(context, SSL_CTRL_CLEAR_MODE, SSL_MODE_AUTO_RETRY, NULL);
    return CURLE_OK;
}

CURLcode postern_curl_read_by_record(CURL *handle) {
    if (!api.SSL_CTX_ctrl) return CURLE_OK;
    return api.curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, read_by_record);
}

CURLcode postern_curl_set_opener(
    CURL *handle, curl_socket_t (*value)(void *, curlsocktype, struct curl_sockaddr *)) {
    return api.curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

CURLcode postern_curl_set_closer(CURL *handle, int (*value)(void *, curl_socket_t)) {
    return api.curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

CURLcode postern_curl_get_long(CURL *handle, CURLINFO what, long *value) {
    return api.curl_easy_getinfo(handle, what, value);
}

CURLcode postern_curl_get_size(CURL *handle, CURLINFO what, curl_off_t *value) {
    return api.curl_easy_getinfo(handle, what, value);
}

CURLcode postern_curl_get_text(CURL *handle, CURLINFO what, const char **value) {
    return api.curl_easy_getinfo(handle, what, value);
}

const struct sockaddr *postern_curl_peer(const struct curl_sockaddr *peer) { return &peer->addr; }

int postern_curl_open_socket(const struct curl_sockaddr *peer) {
    return socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
}

int postern_curl_close_socket(int socket) { return close(socket); }

void postern_curl_acknowledge(int socket) {
    setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &(int){1}, sizeof(int));
}

CURLM *postern_curl_multi_new(long idle) {
    CURLM *multi = api.curl_multi_init();
    if (multi) api.curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, idle);
    return multi;
}

void postern_curl_multi_free(CURLM *multi) { api.curl_multi_cleanup(multi); }

CURLMcode postern_curl_multi_add(CURLM *multi, CURL *handle) {
    return api.curl_multi_add_handle(multi, handle);
}

void postern_curl_multi_remove(CURLM *multi, CURL *handle) {
    end_trace(handle);
    api.curl_multi_remove_handle(multi, handle);
}

CURLMcode postern_curl_multi_perform(CURLM *multi) {
    int running;
    return api.curl_multi_perform(multi, &running);
}

CURLMcode postern_curl_multi_wait(CURLM *multi, int wake) {
    struct curl_waitfd extra = {.fd = wake, .events = CURL_WAIT_POLLIN};
    CURLMcode code = api.curl_multi_poll(multi, &extra, 1, 60000, NULL);
    eventfd_t count;
    if (extra.revents) eventfd_read(wake, &count);
    return code;
}

CURL *postern_curl_multi_ended(CURLM *multi, CURLcode *result) {
    int more;
    for (CURLMsg *message; (message = api.curl_multi_info_read(multi, &more));)
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    return NULL;
}

int postern_curl_wake_new(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void postern_curl_wake(int wake) { eventfd_write(wake, 1); }

void postern_curl_wake_free(int wake) { close(wake); }
