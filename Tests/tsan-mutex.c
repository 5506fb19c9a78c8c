// Loaded with LD_PRELOAD by `make tsan`. Tells the thread sanitizer about locks that it cannot see.
//
// The compiler puts the fast path of Synchronization.Mutex into our code, where the sanitizer sees it. When two threads
// want the lock at the same time, functions of the standard library's shared object take it and release it: in a loop of
// atomic operations, then by the system call FUTEX_LOCK_PI. The sanitizer sees neither, so it would report a race for
// every Mutex that two threads wanted at the same time. These functions have the names of the library's, call them, and
// tell the sanitizer what they did.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Absent in programs that are not built with the sanitizer.
extern uint32_t __tsan_atomic32_load(const volatile void *address, int order) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// A load that acquires. __tsan_acquire would miss the first release of a lock that is just being released.
static void acquire(void *address) {
    if (__tsan_atomic32_load) __tsan_atomic32_load(address, __ATOMIC_ACQUIRE);
}

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

static void *library(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock(uint32_t thread, SELF) {
    static SWIFT void (*next)(uint32_t, SELF);
    if (!next) next = library(LOCK);
    next(thread, self);
    acquire(self);
}

SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT bool try_lock(SELF) {
    static SWIFT bool (*next)(SELF);
    if (!next) next = library(TRY_LOCK);
    bool is_locked = next(self);
    if (is_locked) acquire(self);
    return is_locked;
}

SWIFT void unlock(SELF) __asm__(UNLOCK);
SWIFT void unlock(SELF) {
    static SWIFT void (*next)(SELF);
    if (!next) next = library(UNLOCK);
    if (__tsan_release) __tsan_release(self);
    next(self);
}
