// prctl(2), which Swift cannot import because it takes a variable number of arguments; clocks; the
// sockets of service managers; files in memory. Inline functions only.
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Returns 0, or -1 and errno.
static inline int cprocess_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Glibc declares memfd_create only with _GNU_SOURCE, which would also change other declarations.
int memfd_create(const char *, unsigned int);

// Returns a file in memory with this content, to be read from its beginning, or -1 and errno.
static inline int cprocess_memory_file(const char *bytes, size_t count) {
    int descriptor = memfd_create("text", 1 /* MFD_CLOEXEC */);
    if (descriptor < 0) return -1;
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0) {
            int code = errno;
            close(descriptor);
            errno = code;
            return -1;
        }
        bytes += written;
        count -= (size_t)written;
    }
    lseek(descriptor, 0, SEEK_SET);
    return descriptor;
}

// The wall clock, in milliseconds, with the resolution of the kernel's tick (a few milliseconds), as time(2) reads it: for
// another program, a time that was taken before is never in the future.
static inline int64_t cprocess_wall_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// The monotonic clock, in microseconds.
static inline int64_t cprocess_microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// Sends a datagram to a unix socket: a path, or an abstract name after '@'. Waits at most a second
// for space. Returns 0, or -1 and errno.
static inline int cprocess_send_datagram(const char *name, const char *bytes, size_t count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof(address.sun_path)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(address.sun_path, name, length);
    if (name[0] == '@') address.sun_path[0] = 0;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct timeval limit = {.tv_sec = 1};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    ssize_t sent = sendto(
        descriptor, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&address,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    int code = errno;
    close(descriptor);
    errno = code;
    return sent == (ssize_t)count ? 0 : -1;
}
