// BLAKE2b (RFC 7693) without a key, for digests of 1 to 64 bytes. OpenSSL 3.0 computes only those of 64.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { BLAKE2B_BLOCK_BYTES = 128, BLAKE2B_MOST_BYTES = 64 };

struct blake2b {
    uint64_t state[8];
    uint64_t counted; // bytes that were compressed
    uint8_t buffer[BLAKE2B_BLOCK_BYTES];
    size_t buffered;
    size_t digest_bytes;
};

void postern_blake2b_begin(struct blake2b *hash, size_t digest_bytes);
void postern_blake2b_add(struct blake2b *hash, const void *bytes, size_t count);

// Also wipes `hash`.
void postern_blake2b_end(struct blake2b *hash, uint8_t *digest);
