// The rate of Argon2id by a kernel of CArgon2Kernels, or by libargon2 in the same memory: kept for the next hash, in
// huge pages. For the given seconds, with the named instruction set or "libargon2", on the given number of threads (0: all
// cores). Each further argument is one hash: memory in KiB and passes ("19456,2"). An operation is all of them.
// Prints operations per second, and CPU milliseconds of one.
#define _GNU_SOURCE
#include "CArgon2Kernels.h"
#include "all_cores.h"
#include <argon2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_HASHES = 8, HUGE_PAGE = 2 << 20, MEMORY = 64 << 20 };

static const char *const names[] = {"sse2", "avx2", "avx512", "libargon2"};
static int chosen, hash_count;
static uint32_t memory_kib[MOST_HASHES], passes[MOST_HASHES];
static _Thread_local uint8_t *memory;

static uint8_t *map_memory(void) {
    uint8_t *mapped =
        mmap(NULL, MEMORY + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) abort();
    mapped += HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE;
    madvise(mapped, MEMORY, MADV_HUGEPAGE);
    return mapped;
}

static int take(uint8_t **taken, size_t bytes) {
    *taken = memory;
    return bytes > MEMORY;
}

static void give_back(uint8_t *taken, size_t bytes) { (void)taken, (void)bytes; }

static void hash(void) {
    static const uint8_t secret[32], salt[16];
    uint8_t tag[32];
    if (!memory) memory = map_memory();
    for (int i = 0; i < hash_count; i++) {
        if (chosen <= POSTERN_ARGON2_AVX512) {
            struct postern_argon2_input input = {
                .type = POSTERN_ARGON2_ID, .memory_kib = memory_kib[i], .passes = passes[i], .lanes = 1,
                .password = {secret, sizeof secret}, .salt = {salt, sizeof salt}};
            if (!postern_argon2_hash(chosen, &input, memory, tag, sizeof tag)) abort();
        } else {
            argon2_context context = {
                .out = tag, .outlen = sizeof tag, .pwd = (uint8_t *)secret, .pwdlen = sizeof secret,
                .salt = (uint8_t *)salt, .saltlen = sizeof salt, .t_cost = passes[i],
                .m_cost = memory_kib[i], .lanes = 1, .threads = 1, .version = ARGON2_VERSION_13,
                .allocate_cbk = take, .free_cbk = give_back};
            if (argon2id_ctx(&context) != ARGON2_OK) abort();
        }
    }
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 4 + MOST_HASHES) return 1;
    while (strcmp(names[chosen], argv[2]))
        if (chosen++ > POSTERN_ARGON2_AVX512) return 1;
    if (chosen <= POSTERN_ARGON2_AVX512 && !postern_argon2_is_supported(chosen)) return 1;
    hash_count = argc - 4;
    for (int i = 0; i < hash_count; i++)
        if (sscanf(argv[i + 4], "%u,%u", &memory_kib[i], &passes[i]) != 2 || memory_kib[i] > MEMORY / 1024)
            return 1;
    repeat_on_cores(atoi(argv[3]), atof(argv[1]), hash);
    return 0;
}
