// Socket calls that Swift cannot import from Glibc: macros, accept4, and the paths of unix sockets.
// Inline functions only.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Glibc declares accept4 only with _GNU_SOURCE, which would also change other declarations.
int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int csocket_accept(int listener, struct sockaddr_storage *address) {
    socklen_t length = sizeof(*address);
    return accept4(listener, (struct sockaddr *)address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int csocket_open(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// The path has at most 107 bytes.
static inline struct sockaddr_un csocket_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    return address;
}

static inline int csocket_bind_path(int descriptor, const char *path) {
    struct sockaddr_un address = csocket_path(path);
    return bind(descriptor, (struct sockaddr *)&address, sizeof(address));
}

static inline int csocket_connect_path(int descriptor, const char *path) {
    struct sockaddr_un address = csocket_path(path);
    return connect(descriptor, (struct sockaddr *)&address, sizeof(address));
}

// Writes the path that a unix socket is bound to, with a NUL, and returns its length: 0 for a socket
// without a path, -1 and errno when there is none.
static inline int csocket_bound_path(int descriptor, char path[108]) {
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t length = sizeof(address);
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return -1;
    if (address.sun_family != AF_UNIX || length > sizeof(address)) return 0;
    // An abstract name begins with a NUL.
    size_t space = length - offsetof(struct sockaddr_un, sun_path);
    size_t count = strnlen(address.sun_path, space < 107 ? space : 107);
    memcpy(path, address.sun_path, count);
    path[count] = 0;
    return (int)count;
}

// Adds (operation 1, EPOLL_CTL_ADD), removes (2) or changes (3) the events of a descriptor that an
// epoll instance reports.
static inline int csocket_watch(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

// Writes the descriptors that are ready and their events, at most `capacity` and at most 256 of them.
// Waits for the first one, that many milliseconds at most; for ever when negative. Returns their
// number, or -1.
static inline int csocket_ready(
    int epoll, int *descriptors, uint32_t *events, int capacity, int milliseconds) {
    struct epoll_event ready[256];
    int count = epoll_wait(epoll, ready, capacity < 256 ? capacity : 256, milliseconds);
    for (int i = 0; i < count; i++) {
        descriptors[i] = ready[i].data.fd;
        events[i] = ready[i].events;
    }
    return count;
}

// The monotonic clock.
static inline int64_t csocket_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// The wall clock, with the resolution of the kernel's tick (a few milliseconds).
static inline int64_t csocket_wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now.tv_sec;
}
