// Argon2id and Argon2i, version 19 (RFC 9106), in the widest instructions of the processor.
//
// libargon2 as distributions build it uses SSE2. Here a block stays in registers between its permutations, and is
// written once, to its place in the memory. The results are the same bits.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The instruction sets that there are kernels for. NEON has none: it was not measured and cannot be tested on x86-64.
enum postern_argon2_set {
    POSTERN_ARGON2_SSE2,
    POSTERN_ARGON2_AVX2,
    // AVX-512F and AVX-512VL: a block is sixteen of the 32 registers of 512 bits, and a rotation is one instruction.
    POSTERN_ARGON2_AVX512,
};

// With the numbers of section 3.2. Argon2d is missing, because its memory accesses depend on the password.
enum postern_argon2_type {
    POSTERN_ARGON2_I = 1,
    POSTERN_ARGON2_ID = 2,
};

struct postern_argon2_bytes {
    const uint8_t *bytes; // may be NULL if `count` is 0
    size_t count;
};

struct postern_argon2_input {
    enum postern_argon2_type type;
    uint32_t memory_kib; // m
    uint32_t passes;     // t
    uint32_t lanes;      // p; they are computed one after another
    struct postern_argon2_bytes password, salt, secret, associated;
};

// Whether this processor has the instructions. Always false where this was not compiled for x86-64, or not optimised.
bool postern_argon2_is_supported(enum postern_argon2_set set);

// Computes the tag. `memory` is of `memory_kib` KiB, at a multiple of 64. Its content before does not matter;
// afterwards it is zero, as far as it was used.
//
// Returns false, and writes nothing, if the set is not supported or a parameter is outside the limits of section 3.1:
// 1 lane to 2^24 - 1, 8 KiB for each lane, 1 pass, a tag of 4 bytes, 2^32 - 1 bytes of each input; or if the salt is
// shorter than 8 bytes.
bool postern_argon2_hash(
    enum postern_argon2_set set, const struct postern_argon2_input *input, uint8_t *memory, uint8_t *tag,
    size_t tag_bytes);
