#include "CArgon2Kernels.h"
#include "blake2b.h"
#include <string.h>

// A build for the debugger has no kernels: they would be slower than libargon2.
#if defined(__x86_64__) && defined(__OPTIMIZE__)

// No report can come from data that one thread owns, and the kernels would take ten times as long.
#define NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#define ALIGNED __attribute__((aligned(64)))

enum { BLOCK_WORDS = 128, BLOCK_BYTES = 1024, SLICES = 4, VERSION = 0x13, DIGEST_BYTES = 64 };

// The memory of section 3.2: a matrix of blocks with a row for each lane.
struct instance {
    uint64_t *memory;
    uint32_t type, passes, lanes, lane_blocks, segment_blocks;
};

struct position {
    uint32_t pass, slice, lane;
    uint32_t index; // in the segment
};

static const uint64_t zeros[BLOCK_WORDS] ALIGNED;

static inline uint64_t *block_at(const struct instance *all, uint32_t lane, uint32_t column)
{
    return all->memory + BLOCK_WORDS * ((size_t)lane * all->lane_blocks + column);
}

// The block that is compressed with the one before (section 3.4.2), from the word J1 || J2.
static inline const uint64_t *reference_block(const struct instance *all, struct position at, uint64_t random)
{
    const bool is_first = at.pass == 0 && at.slice == 0;
    const uint32_t lane = is_first || all->lanes == 1 ? at.lane : (uint32_t)(random >> 32) % all->lanes;
    // The blocks of the other slices, or of those before in the first pass, and of this segment without the last one.
    uint32_t count = at.pass == 0 ? at.slice * all->segment_blocks : all->lane_blocks - all->segment_blocks;
    if (lane == at.lane) count += at.index - 1;
    else if (at.index == 0) count -= 1;
    const uint64_t j1 = (uint32_t)random, x = j1 * j1 >> 32, y = count * x >> 32;
    const uint32_t oldest = at.pass == 0 ? 0 : (at.slice + 1) % SLICES * all->segment_blocks;
    const uint64_t column = (uint64_t)oldest + count - 1 - y;
    return block_at(all, lane, (uint32_t)(column < all->lane_blocks ? column : column - all->lane_blocks));
}

static inline void prefetch_block(const void *block)
{
    for (size_t at = 0; at < BLOCK_BYTES; at += 64) __builtin_prefetch((const uint8_t *)block + at);
}

#define WORDS 2
#define TARGET NO_THREAD_SANITIZER
#define NAME(x) x##_sse2
#include "fill.h"
#define WORDS 4
#define TARGET NO_THREAD_SANITIZER __attribute__((target("avx2")))
#define NAME(x) x##_avx2
#include "fill.h"
#define WORDS 8
#define TARGET NO_THREAD_SANITIZER __attribute__((target("avx512f,avx512vl")))
#define NAME(x) x##_avx512
#include "fill.h"

struct kernel {
    void (*fill)(const struct instance *all, struct position at);
    size_t (*place)(size_t word);
};

static const struct kernel kernels[] = {
    [POSTERN_ARGON2_SSE2] = {fill_sse2, place_sse2},
    [POSTERN_ARGON2_AVX2] = {fill_avx2, place_avx2},
    [POSTERN_ARGON2_AVX512] = {fill_avx512, place_avx512},
};

bool postern_argon2_is_supported(enum postern_argon2_set set)
{
    switch (set) {
    case POSTERN_ARGON2_SSE2: return true; // a part of x86-64
    case POSTERN_ARGON2_AVX2: return __builtin_cpu_supports("avx2");
    case POSTERN_ARGON2_AVX512: return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    }
    return false;
}

static void add_number(struct blake2b *hash, size_t number)
{
    const uint32_t word = (uint32_t)number; // little-endian, as x86-64 is
    postern_blake2b_add(hash, &word, sizeof word);
}

// H' (section 3.3) of `count` bytes.
static void hash_to_length(const void *bytes, size_t count, uint8_t *out, size_t out_bytes)
{
    struct blake2b hash;
    postern_blake2b_begin(&hash, out_bytes < DIGEST_BYTES ? out_bytes : DIGEST_BYTES);
    add_number(&hash, out_bytes);
    postern_blake2b_add(&hash, bytes, count);
    uint8_t digest[DIGEST_BYTES];
    while (out_bytes > DIGEST_BYTES) {
        postern_blake2b_end(&hash, digest);
        memcpy(out, digest, DIGEST_BYTES / 2);
        out += DIGEST_BYTES / 2;
        out_bytes -= DIGEST_BYTES / 2;
        postern_blake2b_begin(&hash, out_bytes < DIGEST_BYTES ? out_bytes : DIGEST_BYTES);
        postern_blake2b_add(&hash, digest, DIGEST_BYTES);
    }
    postern_blake2b_end(&hash, out);
    explicit_bzero(digest, sizeof digest);
}

// H_0 (section 3.2), with room for the two numbers of a block.
static void hash_input(const struct postern_argon2_input *input, size_t tag_bytes, uint8_t *out)
{
    struct blake2b hash;
    postern_blake2b_begin(&hash, DIGEST_BYTES);
    const size_t numbers[] = {input->lanes, tag_bytes, input->memory_kib, input->passes, VERSION, input->type};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add_number(&hash, numbers[i]);
    const struct postern_argon2_bytes texts[] = {input->password, input->salt, input->secret, input->associated};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        add_number(&hash, texts[i].count);
        postern_blake2b_add(&hash, texts[i].bytes, texts[i].count);
    }
    postern_blake2b_end(&hash, out);
}

// The first two blocks of each lane.
static void begin_lanes(
    const struct instance *all, struct kernel kernel, const struct postern_argon2_input *input, size_t tag_bytes)
{
    uint8_t seed[DIGEST_BYTES + 2 * sizeof(uint32_t)];
    uint64_t block[BLOCK_WORDS];
    hash_input(input, tag_bytes, seed);
    for (uint32_t lane = 0; lane < all->lanes; lane++)
        for (uint32_t column = 0; column < 2; column++) {
            memcpy(seed + DIGEST_BYTES, &column, sizeof column);
            memcpy(seed + DIGEST_BYTES + sizeof column, &lane, sizeof lane);
            hash_to_length(seed, sizeof seed, (uint8_t *)block, sizeof block);
            uint64_t *to = block_at(all, lane, column);
            for (size_t word = 0; word < BLOCK_WORDS; word++) to[kernel.place(word)] = block[word];
        }
    explicit_bzero(seed, sizeof seed);
    explicit_bzero(block, sizeof block);
}

// The tag, from the last blocks of the lanes.
static void end_lanes(const struct instance *all, struct kernel kernel, uint8_t *tag, size_t tag_bytes)
{
    uint64_t block[BLOCK_WORDS] = {0};
    for (uint32_t lane = 0; lane < all->lanes; lane++) {
        const uint64_t *last = block_at(all, lane, all->lane_blocks - 1);
        for (size_t word = 0; word < BLOCK_WORDS; word++) block[word] ^= last[kernel.place(word)];
    }
    hash_to_length(block, sizeof block, tag, tag_bytes);
    explicit_bzero(block, sizeof block);
}

static bool is_within_limits(const struct postern_argon2_input *input, size_t tag_bytes)
{
    return (input->type == POSTERN_ARGON2_I || input->type == POSTERN_ARGON2_ID)
        && input->lanes >= 1 && input->lanes < 1 << 24 && input->memory_kib / 8 >= input->lanes && input->passes >= 1
        && tag_bytes >= 4 && tag_bytes <= UINT32_MAX && input->password.count <= UINT32_MAX
        && input->salt.count >= 8 && input->salt.count <= UINT32_MAX
        && input->secret.count <= UINT32_MAX && input->associated.count <= UINT32_MAX;
}

bool postern_argon2_hash(
    enum postern_argon2_set set, const struct postern_argon2_input *input, uint8_t *memory, uint8_t *tag,
    size_t tag_bytes)
{
    if (!postern_argon2_is_supported(set) || !is_within_limits(input, tag_bytes)) return false;
    const struct kernel kernel = kernels[set];
    const uint32_t segment_blocks = input->memory_kib / (SLICES * input->lanes);
    const struct instance all = {
        .memory = (uint64_t *)memory, .type = input->type, .passes = input->passes, .lanes = input->lanes,
        .segment_blocks = segment_blocks, .lane_blocks = SLICES * segment_blocks};
    begin_lanes(&all, kernel, input, tag_bytes);
    for (uint32_t pass = 0; pass < all.passes; pass++)
        for (uint32_t slice = 0; slice < SLICES; slice++)
            // Segments of one slice need nothing of one another.
            for (uint32_t lane = 0; lane < all.lanes; lane++)
                kernel.fill(&all, (struct position){.pass = pass, .slice = slice, .lane = lane});
    end_lanes(&all, kernel, tag, tag_bytes);
    explicit_bzero(memory, BLOCK_BYTES * (size_t)all.lanes * all.lane_blocks);
    return true;
}

#else

bool postern_argon2_is_supported(enum postern_argon2_set set) { return false; }

bool postern_argon2_hash(
    enum postern_argon2_set set, const struct postern_argon2_input *input, uint8_t *memory, uint8_t *tag,
    size_t tag_bytes)
{
    return false;
}

#endif
