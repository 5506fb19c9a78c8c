// libcurl: the client side of HTTP, loaded when it is first used. It and the 27
// libraries that it needs would be a seventh of the memory of an idle server.
//
// Call postern_curl_load before anything else, from one thread.
#pragma once
#include <curl/curl.h>
#include <sys/socket.h>

// Loads libcurl and initialises it. Returns NULL, or why that failed.
const char *postern_curl_load(void);

CURL *postern_curl_new(void);
// Calls no callback of the handle, but those of its sockets.
void postern_curl_free(CURL *handle);
CURLcode postern_curl_perform(CURL *handle);
const char *postern_curl_error(CURLcode code);
struct curl_slist *postern_curl_append(struct curl_slist *list, const char *text);
void postern_curl_free_list(struct curl_slist *list);

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call; these functions fix
// the type of the last argument.
CURLcode postern_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode postern_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode postern_curl_set_size(CURL *handle, CURLoption option, curl_off_t value);
CURLcode postern_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);
CURLcode postern_curl_set_context(CURL *handle, CURLoption option, void *value);
CURLcode postern_curl_set_sink(
    CURL *handle, CURLoption option, size_t (*value)(char *, size_t, size_t, void *));
CURLcode postern_curl_set_progress(
    CURL *handle, int (*value)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t));
CURLcode postern_curl_set_trace(
    CURL *handle, int (*value)(CURL *, curl_infotype, char *, size_t, void *));
// Lets a read from TLS end after each record. OpenSSL would go on as long as records without data
// arrive (session tickets), and no deadline and no other transfer would have its turn.
CURLcode postern_curl_read_by_record(CURL *handle);
CURLcode postern_curl_set_opener(
    CURL *handle, curl_socket_t (*value)(void *, curlsocktype, struct curl_sockaddr *));
CURLcode postern_curl_set_closer(CURL *handle, int (*value)(void *, curl_socket_t));
CURLcode postern_curl_get_long(CURL *handle, CURLINFO what, long *value);
CURLcode postern_curl_get_size(CURL *handle, CURLINFO what, curl_off_t *value);
CURLcode postern_curl_get_text(CURL *handle, CURLINFO what, const char **value);

// The address is longer than the type of its field. Swift would copy only the size of the type.
const struct sockaddr *postern_curl_peer(const struct curl_sockaddr *peer);

// In C, because whether Swift sees SOCK_CLOEXEC depends on which file of a module it compiles
// first: the name is an enumerator of a header that libcurl's header includes, too.
int postern_curl_open_socket(const struct curl_sockaddr *peer);
int postern_curl_close_socket(int socket);
// Sends a TCP acknowledgement that waits for data to be sent with.
void postern_curl_acknowledge(int socket);

// Several transfers on one thread, which share the connections that are kept open: at most `idle`.
CURLM *postern_curl_multi_new(long idle);
void postern_curl_multi_free(CURLM *multi);
CURLMcode postern_curl_multi_add(CURLM *multi, CURL *handle);
// Calls no callback of the handle, but those of its sockets.
void postern_curl_multi_remove(CURLM *multi, CURL *handle);
CURLMcode postern_curl_multi_perform(CURLM *multi);
// Waits until there is something to do, or until postern_curl_wake, which any thread may call.
CURLMcode postern_curl_multi_wait(CURLM *multi, int wake);
// A transfer that has ended and was not returned before; NULL if there is none.
CURL *postern_curl_multi_ended(CURLM *multi, CURLcode *result);
// What ends a wait: -1 when there is no descriptor left.
int postern_curl_wake_new(void);
void postern_curl_wake(int wake);
void postern_curl_wake_free(int wake);
