// What the machine gives: Argon2id on all cores for the given seconds and nothing else. Each
// further argument is one hash, as memory in KiB and passes ("19456,2"); an operation is all of
// them.
// Prints operations per second of wall time, and CPU seconds per operation.
#include <argon2.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double wanted_seconds;
static int hash_count;
static uint32_t memory[8], passes[8];

static double read_clock(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void *hash_until_the_end(void *count) {
    static const uint8_t secret[32], salt[16];
    uint8_t out[32];
    double end = read_clock(CLOCK_MONOTONIC) + wanted_seconds;
    while (read_clock(CLOCK_MONOTONIC) < end) {
        for (int i = 0; i < hash_count; i++) {
            if (argon2id_hash_raw(passes[i], memory[i], 1, secret, sizeof secret, salt, sizeof salt,
                                  out, sizeof out) != ARGON2_OK)
                abort();
        }
        ++*(long *)count;
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 10) return 1;
    wanted_seconds = atof(argv[1]);
    hash_count = argc - 2;
    for (int i = 0; i < hash_count; i++)
        if (sscanf(argv[i + 2], "%u,%u", &memory[i], &passes[i]) != 2) return 1;
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
