#include "blake2b.h"
#include <stdbool.h>
#include <string.h>

// Section 2.6: the first 64 bits of the fractional parts of the square roots of the first eight primes.
static const uint64_t initial[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

// Section 2.7. Rounds 10 and 11 use the first two again.
static const uint8_t schedule[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotated(uint64_t word, int bits)
{
    return word >> bits | word << (64 - bits);
}

// Section 3.1.
static inline void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

// Section 3.2, for the block in the buffer, of which the first `count` bytes are input. The words are little-endian, as
// those of the processors that use this.
static void compress(struct blake2b *hash, size_t count, bool is_last)
{
    uint64_t v[16], words[16];
    memcpy(words, hash->buffer, sizeof words);
    memcpy(v, hash->state, sizeof hash->state);
    memcpy(v + 8, initial, sizeof initial);
    hash->counted += count;
    v[12] ^= hash->counted;
    if (is_last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = schedule[round % 10];
        mix(v, 0, 4, 8, 12, words[s[0]], words[s[1]]);
        mix(v, 1, 5, 9, 13, words[s[2]], words[s[3]]);
        mix(v, 2, 6, 10, 14, words[s[4]], words[s[5]]);
        mix(v, 3, 7, 11, 15, words[s[6]], words[s[7]]);
        mix(v, 0, 5, 10, 15, words[s[8]], words[s[9]]);
        mix(v, 1, 6, 11, 12, words[s[10]], words[s[11]]);
        mix(v, 2, 7, 8, 13, words[s[12]], words[s[13]]);
        mix(v, 3, 4, 9, 14, words[s[14]], words[s[15]]);
    }
    for (int i = 0; i < 8; i++) hash->state[i] ^= v[i] ^ v[i + 8];
    explicit_bzero(words, sizeof words);
}

void postern_blake2b_begin(struct blake2b *hash, size_t digest_bytes)
{
    *hash = (struct blake2b){.digest_bytes = digest_bytes};
    memcpy(hash->state, initial, sizeof initial);
    // The parameter block of section 2.5: the length of the digest, no key, fan-out 1, depth 1.
    hash->state[0] ^= 0x01010000 ^ digest_bytes;
}

void postern_blake2b_add(struct blake2b *hash, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    while (count > 0) {
        // A full buffer waits until it is known not to be the last.
        if (hash->buffered == BLAKE2B_BLOCK_BYTES) {
            compress(hash, BLAKE2B_BLOCK_BYTES, false);
            hash->buffered = 0;
        }
        size_t space = BLAKE2B_BLOCK_BYTES - hash->buffered, part = count < space ? count : space;
        memcpy(hash->buffer + hash->buffered, from, part);
        hash->buffered += part;
        from += part;
        count -= part;
    }
}

void postern_blake2b_end(struct blake2b *hash, uint8_t *digest)
{
    memset(hash->buffer + hash->buffered, 0, BLAKE2B_BLOCK_BYTES - hash->buffered);
    compress(hash, hash->buffered, true);
    memcpy(digest, hash->state, hash->digest_bytes);
    explicit_bzero(hash, sizeof *hash);
}
