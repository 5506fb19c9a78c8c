// Measures how often some cores, or all of them together, can repeat an operation.
#pragma once
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double wanted_seconds;
static void (*operation)(void);

static double read_clock(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void *repeat_until_the_end(void *count) {
    double end = read_clock(CLOCK_MONOTONIC) + wanted_seconds;
    while (read_clock(CLOCK_MONOTONIC) < end) {
        operation();
        ++*(long *)count;
    }
    return NULL;
}

// Prints operations per second of wall time, and CPU milliseconds per operation.
static void repeat_on_cores(long cores, double seconds, void (*what)(void)) {
    wanted_seconds = seconds;
    operation = what;
    if (cores == 0) cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[cores];
    long counts[cores], total = 0;
    double start = read_clock(CLOCK_MONOTONIC);
    for (long i = 0; i < cores; i++) {
        counts[i] = 0;
        pthread_create(&threads[i], NULL, repeat_until_the_end, &counts[i]);
    }
    for (long i = 0; i < cores; i++) {
        pthread_join(threads[i], NULL);
        total += counts[i];
    }
    double elapsed = read_clock(CLOCK_MONOTONIC) - start;
    printf("%f %f\n", total / elapsed, read_clock(CLOCK_PROCESS_CPUTIME_ID) / total * 1e3);
}

static inline void repeat_on_all_cores(double seconds, void (*what)(void)) {
    repeat_on_cores(0, seconds, what);
}
