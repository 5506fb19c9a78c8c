// The rate of the scrypt kernels (N 16384, r 8, p 1) on this machine: all cores for the given seconds, with the widest
// instruction set or the one that is named, and its most lanes or the given number.
// Prints passes per second, CPU milliseconds of one, and hashes in one.
#define _GNU_SOURCE
#include "CScryptLanes.h"
#include "all_cores.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 16384, R = 8, MAX_LANES = 8, HUGE_PAGE = 2 << 20 };

static enum postern_scrypt_set set = POSTERN_SCRYPT_AVX512;
static size_t lanes;

static uint8_t *map_scratch(void) {
    size_t bytes = postern_scrypt_scratch_bytes(lanes, N, R) + HUGE_PAGE;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    memory += HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE;
    madvise(memory, bytes - HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
}

static void pass(void) {
    static _Thread_local uint8_t *scratch;
    if (!scratch) scratch = map_scratch();
    uint8_t blocks[MAX_LANES * 128 * R];
    memset(blocks, 7, sizeof blocks);
    postern_scrypt_mix(set, blocks, lanes, lanes, N, R, scratch);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"sse2", "avx2", "avx512"};
    while (argc > 2 ? strcmp(names[set], argv[2]) : !postern_scrypt_is_supported(set))
        if (set-- == POSTERN_SCRYPT_SSE2) return 1;
    lanes = postern_scrypt_lanes(set);
    if (lanes == 0) return 1;
    if (argc > 3) lanes = (size_t)atoi(argv[3]);
    repeat_on_all_cores(argc > 1 ? atof(argv[1]) : 5, pass);
    printf("%zu\n", lanes);
    return 0;
}
