// The slow part of scrypt (RFC 7914), computed for several inputs at once.
//
// One scrypt is bound by latency: each operation of its inner loop needs the result of the one before. With several
// inputs the processor works on the others meanwhile. The results are the same bits as those of one input at a time.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The instruction sets that there are kernels for. NEON has none: it was not measured and cannot be tested on x86-64.
enum postern_scrypt_set {
    POSTERN_SCRYPT_SSE2,
    POSTERN_SCRYPT_AVX2,
    // AVX-512VL: rotations in one instruction and 32 registers, of 256 bits. 512 bits were not faster on Zen 4, and
    // would slow down the clock of other processors.
    POSTERN_SCRYPT_AVX512,
};

// Whether this processor has the instructions. Always false where this was not compiled for x86-64, or not optimised.
bool postern_scrypt_is_supported(enum postern_scrypt_set set);

// The most blocks that are computed at once, at least 1; 0 where the set is not supported.
size_t postern_scrypt_lanes(enum postern_scrypt_set set);

// The bytes of `scratch` in which `lanes` blocks are computed at once.
size_t postern_scrypt_scratch_bytes(size_t lanes, size_t n, size_t r);

// scryptROMix (section 5) of each of `count` blocks in place.
//
// blocks:  count x 128 r bytes, one after another, at any address
// lanes:   how many blocks are computed at once, at most postern_scrypt_lanes(set)
// n:       the cost, a power of two from 2 to 2^31
// scratch: postern_scrypt_scratch_bytes(lanes, n, r) bytes, at a multiple of 64; their content does not matter
void postern_scrypt_mix(
    enum postern_scrypt_set set, uint8_t *blocks, size_t count, size_t lanes, size_t n, size_t r, uint8_t *scratch);
