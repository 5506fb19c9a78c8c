// Socket calls that Glibc's module does not show. Inline functions only, for macros and accept4.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Declared by Glibc only with _GNU_SOURCE, which would change the shape of its other types.
int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int csocket_accept(int listener, struct sockaddr_storage *address) {
    socklen_t length = sizeof(*address);
    return accept4(listener, (struct sockaddr *)address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int csocket_open(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Adds (operation 1), drops (2) or changes (3) what is waited for on a descriptor.
static inline int csocket_watch(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

// What is ready now, without waiting: pairs of descriptor and events, `room` pairs at most.
static inline int csocket_ready(int epoll, int *descriptors, uint32_t *events, int room) {
    struct epoll_event ready[256];
    int count = epoll_wait(epoll, ready, room < 256 ? room : 256, 0);
    for (int i = 0; i < count; i++) {
        descriptors[i] = ready[i].data.fd;
        events[i] = ready[i].events;
    }
    return count;
}

static inline int64_t csocket_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t csocket_wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now.tv_sec;
}
