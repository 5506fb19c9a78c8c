#include "CScryptLanes.h"

// A build for the debugger has no kernels: they would be slower than libscrypt.
#if defined(__x86_64__) && defined(__OPTIMIZE__)

// No report can come from data that one thread owns, and the kernels would take ten times as long.
#define NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))

typedef uint32_t quad __attribute__((vector_size(16), may_alias));

// The place in a block of a word of the rows (see smix.h), in bytes. Words are little-endian.
static inline size_t place(size_t word)
{
    size_t piece = word / 16, row = word / 4 % 4, column = word % 4;
    return 64 * piece + 4 * ((4 * row + 5 * column) % 16);
}

static inline uint32_t load_word(const uint8_t *from)
{
    return from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline void store_word(uint8_t *to, uint32_t word)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(word >> 8 * i);
}

#define TARGET NO_THREAD_SANITIZER
#define LANES 1
#define STREAMS 1
#define NAME(x) x##_sse2_1x1
#include "smix.h"
#define LANES 1
#define STREAMS 2
#define NAME(x) x##_sse2_1x2
#include "smix.h"
#define LANES 1
#define STREAMS 3
#define NAME(x) x##_sse2_1x3
#include "smix.h"
#undef TARGET

#define TARGET NO_THREAD_SANITIZER __attribute__((target("avx2")))
#define LANES 1
#define STREAMS 1
#define NAME(x) x##_avx2_1x1
#include "smix.h"
#define LANES 2
#define STREAMS 1
#define NAME(x) x##_avx2_2x1
#include "smix.h"
#define LANES 2
#define STREAMS 2
#define NAME(x) x##_avx2_2x2
#include "smix.h"
#undef TARGET

#define TARGET NO_THREAD_SANITIZER __attribute__((target("avx512f,avx512vl,prefer-256-bit")))
#define LANES 1
#define STREAMS 1
#define NAME(x) x##_avx512_1x1
#include "smix.h"
#define LANES 2
#define STREAMS 1
#define NAME(x) x##_avx512_2x1
#include "smix.h"
#define LANES 2
#define STREAMS 2
#define NAME(x) x##_avx512_2x2
#include "smix.h"
#define LANES 2
#define STREAMS 3
#define NAME(x) x##_avx512_2x3
#include "smix.h"
#define LANES 2
#define STREAMS 4
#define NAME(x) x##_avx512_2x4
#include "smix.h"
#undef TARGET

struct kernel {
    size_t lanes;
    void (*smix)(uint8_t *const blocks[], uint8_t *const tables[], size_t n, size_t r, uint8_t *work);
};

enum { MAX_LANES = 8, KERNELS = 5 };

// The kernels of each set, from the narrowest to the widest. A narrow one is faster for few blocks. More streams than
// these need more registers than there are, and were slower.
static const struct kernel kernels[][KERNELS] = {
    [POSTERN_SCRYPT_SSE2] = {{1, smix_sse2_1x1}, {2, smix_sse2_1x2}, {3, smix_sse2_1x3}},
    [POSTERN_SCRYPT_AVX2] = {{1, smix_avx2_1x1}, {2, smix_avx2_2x1}, {4, smix_avx2_2x2}},
    [POSTERN_SCRYPT_AVX512] = {
        {1, smix_avx512_1x1}, {2, smix_avx512_2x1}, {4, smix_avx512_2x2}, {6, smix_avx512_2x3},
        {8, smix_avx512_2x4}},
};

bool postern_scrypt_is_supported(enum postern_scrypt_set set)
{
    switch (set) {
    case POSTERN_SCRYPT_SSE2: return true; // a part of x86-64
    case POSTERN_SCRYPT_AVX2: return __builtin_cpu_supports("avx2");
    case POSTERN_SCRYPT_AVX512: return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    }
    return false;
}

// The narrowest kernel that takes `count` blocks, or the widest.
static struct kernel kernel_for(enum postern_scrypt_set set, size_t count)
{
    struct kernel found = kernels[set][0];
    for (int i = 1; i < KERNELS && kernels[set][i].smix && found.lanes < count; i++) found = kernels[set][i];
    return found;
}

size_t postern_scrypt_lanes(enum postern_scrypt_set set)
{
    return postern_scrypt_is_supported(set) ? kernel_for(set, MAX_LANES).lanes : 0;
}

size_t postern_scrypt_scratch_bytes(size_t lanes, size_t n, size_t r)
{
    return 128 * r * (lanes * n + 2 * MAX_LANES);
}

void postern_scrypt_mix(
    enum postern_scrypt_set set, uint8_t *blocks, size_t count, size_t lanes, size_t n, size_t r, uint8_t *scratch)
{
    const size_t block_bytes = 128 * r;
    uint8_t *work = scratch + lanes * n * block_bytes;
    for (size_t done = 0; done < count; done += lanes) {
        size_t group = count - done < lanes ? count - done : lanes;
        struct kernel kernel = kernel_for(set, group);
        uint8_t *of_lane[MAX_LANES], *tables[MAX_LANES];
        for (size_t lane = 0; lane < kernel.lanes; lane++) {
            // Lanes that are left over compute the last block, too: the same bytes in the same table.
            size_t i = lane < group ? lane : group - 1;
            of_lane[lane] = blocks + (done + i) * block_bytes;
            tables[lane] = scratch + i * n * block_bytes;
        }
        kernel.smix(of_lane, tables, n, r, work);
    }
}

#else

bool postern_scrypt_is_supported(enum postern_scrypt_set set) { return false; }

size_t postern_scrypt_lanes(enum postern_scrypt_set set) { return 0; }

size_t postern_scrypt_scratch_bytes(size_t lanes, size_t n, size_t r) { return 0; }

void postern_scrypt_mix(
    enum postern_scrypt_set set, uint8_t *blocks, size_t count, size_t lanes, size_t n, size_t r, uint8_t *scratch)
{
    __builtin_trap(); // No set is supported.
}

#endif
