// What the machine gives: libscrypt 16384/8/1 on all cores for the given seconds and nothing else.
// Prints hashes per second of wall time, and CPU seconds per hash.
#include <libscrypt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double wanted_seconds;

static double read_clock(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void *hash_until_the_end(void *count) {
    static const uint8_t input[40], salt[64];
    uint8_t out[64];
    double end = read_clock(CLOCK_MONOTONIC) + wanted_seconds;
    while (read_clock(CLOCK_MONOTONIC) < end) {
        if (libscrypt_scrypt(input, sizeof input, salt, sizeof salt, 16384, 8, 1, out, 64)) abort();
        ++*(long *)count;
    }
    return NULL;
}

int main(int argc, char **argv) {
    wanted_seconds = argc > 1 ? atof(argv[1]) : 5;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[cores];
    long counts[cores], total = 0;
    double start = read_clock(CLOCK_MONOTONIC);
    for (long i = 0; i < cores; i++) {
        counts[i] = 0;
        pthread_create(&threads[i], NULL, hash_until_the_end, &counts[i]);
    }
    for (long i = 0; i < cores; i++) {
        pthread_join(threads[i], NULL);
        total += counts[i];
    }
    double elapsed = read_clock(CLOCK_MONOTONIC) - start;
    printf("%f %f\n", total / elapsed, read_clock(CLOCK_PROCESS_CPUTIME_ID) / total);
    return 0;
}
