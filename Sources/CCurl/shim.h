// libcurl: the client side of HTTP. curl_easy_setopt and curl_easy_getinfo are variadic, which
// Swift cannot call; these functions fix the type of the last argument.
#pragma once
#include <curl/curl.h>
#include <sys/socket.h>

static inline CURLcode postern_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode postern_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode postern_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode postern_curl_set_list(
    CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode postern_curl_set_context(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode postern_curl_set_sink(
    CURL *handle, CURLoption option, size_t (*value)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode postern_curl_get_long(CURL *handle, CURLINFO what, long *value) {
    return curl_easy_getinfo(handle, what, value);
}

static inline CURLcode postern_curl_get_size(CURL *handle, CURLINFO what, curl_off_t *value) {
    return curl_easy_getinfo(handle, what, value);
}

static inline CURLcode postern_curl_get_text(CURL *handle, CURLINFO what, const char **value) {
    return curl_easy_getinfo(handle, what, value);
}

static inline CURLcode postern_curl_set_opener(
    CURL *handle, curl_socket_t (*value)(void *, curlsocktype, struct curl_sockaddr *)) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

// The address is longer than the type of its field. Swift would copy only the size of the type.
static inline const struct sockaddr *postern_curl_peer(const struct curl_sockaddr *peer) {
    return &peer->addr;
}

// In C, because whether Swift sees SOCK_CLOEXEC depends on which file of a module it compiles first:
// the name is an enumerator of a header that libcurl's header includes, too.
static inline int postern_curl_open_socket(const struct curl_sockaddr *peer) {
    return socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
}
