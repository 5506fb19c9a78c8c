// Compares every kernel of CScryptLanes that this processor has with libscrypt: the vectors of RFC 7914, random inputs,
// every number of blocks and of lanes, every alignment. For run.sh, which builds it with the address sanitizer: blocks
// and scratch have exactly the documented sizes.
#include "CScryptLanes.h"
#include <libscrypt.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 19, RANDOM_INPUTS = 10000 };

static const char *const names[] = {"SSE2", "AVX2", "AVX-512"};

// xorshift64: the same inputs in every run.
static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

struct input {
    uint8_t password[48], salt[48];
    size_t password_bytes, salt_bytes;
};

static void fail(const char *what, enum postern_scrypt_set set, uint64_t n, uint32_t r, uint32_t p)
{
    fprintf(stderr, "%s: %s with N = %lu, r = %u, p = %u\n", names[set], what, (unsigned long)n, r, p);
    exit(1);
}

static void *allocate(size_t alignment, size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes)) abort();
    // What the memory held must not matter.
    memset(memory, 0xa5, bytes);
    return memory;
}

static void derive(const struct input *input, const uint8_t *salt, size_t salt_bytes, uint8_t *out, size_t out_bytes)
{
    if (!PKCS5_PBKDF2_HMAC((const char *)input->password, (int)input->password_bytes, salt, (int)salt_bytes, 1,
                           EVP_sha256(), (int)out_bytes, out))
        abort();
}

// Computes `count` inputs with the blocks `shift` bytes after a multiple of 64, and compares with libscrypt.
static void check(
    enum postern_scrypt_set set, const struct input *inputs, size_t count, size_t lanes, uint64_t n, uint32_t r,
    uint32_t p, size_t shift)
{
    const size_t bytes = 128 * (size_t)r * p;
    uint8_t *memory = allocate(64, shift + count * bytes), *blocks = memory + shift;
    uint8_t *scratch = allocate(64, postern_scrypt_scratch_bytes(lanes, n, r));
    for (size_t i = 0; i < count; i++) derive(&inputs[i], inputs[i].salt, inputs[i].salt_bytes, blocks + i * bytes, bytes);
    postern_scrypt_mix(set, blocks, count * p, lanes, n, r, scratch);
    for (size_t i = 0; i < count; i++) {
        uint8_t digest[64], expected[64];
        derive(&inputs[i], blocks + i * bytes, bytes, digest, sizeof digest);
        if (libscrypt_scrypt(inputs[i].password, inputs[i].password_bytes, inputs[i].salt, inputs[i].salt_bytes, n, r, p,
                             expected, sizeof expected))
            abort();
        if (memcmp(digest, expected, sizeof digest)) fail("differs from libscrypt", set, n, r, p);
    }
    free(memory);
    free(scratch);
}

static void check_random(enum postern_scrypt_set set, size_t lanes, size_t count, size_t shift)
{
    struct input inputs[MAX_INPUTS];
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < sizeof inputs[i].password; at++) inputs[i].password[at] = (uint8_t)random_number();
        for (size_t at = 0; at < sizeof inputs[i].salt; at++) inputs[i].salt[at] = (uint8_t)random_number();
        inputs[i].password_bytes = random_number() % (sizeof inputs[i].password + 1);
        inputs[i].salt_bytes = random_number() % (sizeof inputs[i].salt + 1);
    }
    // RFC 7914: N is less than 2^(128 r / 8).
    uint64_t n = 2ull << random_number() % 6;
    check(set, inputs, count, lanes, n, 1 + random_number() % 9, 1 + random_number() % 3, shift);
}

struct vector {
    const char *password, *salt;
    uint64_t n;
    uint32_t r, p;
    uint8_t first[8];
};

// Section 12. The fourth vector takes 1 GiB. libscrypt is held to them first: it is what all else is compared with.
static const struct vector vectors[] = {
    {"", "", 16, 1, 1, {0x77, 0xd6, 0x57, 0x62, 0x38, 0x65, 0x7b, 0x20}},
    {"password", "NaCl", 1024, 8, 16, {0xfd, 0xba, 0xbe, 0x1c, 0x9d, 0x34, 0x72, 0x00}},
    {"pleaseletmein", "SodiumChloride", 16384, 8, 1, {0x70, 0x23, 0xbd, 0xcb, 0x3a, 0xfd, 0x73, 0x48}},
};

static void check_vectors(enum postern_scrypt_set set)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector *vector = &vectors[i];
        struct input input = {.password_bytes = strlen(vector->password), .salt_bytes = strlen(vector->salt)};
        memcpy(input.password, vector->password, input.password_bytes);
        memcpy(input.salt, vector->salt, input.salt_bytes);
        uint8_t digest[64];
        if (libscrypt_scrypt(input.password, input.password_bytes, input.salt, input.salt_bytes, vector->n, vector->r,
                             vector->p, digest, sizeof digest)
            || memcmp(digest, vector->first, sizeof vector->first))
            fail("libscrypt differs from RFC 7914", set, vector->n, vector->r, vector->p);
        check(set, &input, 1, postern_scrypt_lanes(set), vector->n, vector->r, vector->p, 0);
    }
}

int main(void)
{
    for (enum postern_scrypt_set set = POSTERN_SCRYPT_SSE2; set <= POSTERN_SCRYPT_AVX512; set++) {
        if (!postern_scrypt_is_supported(set)) {
            printf("%s: not tested, this processor does not have it\n", names[set]);
            continue;
        }
        const size_t most = postern_scrypt_lanes(set);
        check_vectors(set);
        for (size_t lanes = 1; lanes <= most; lanes++)
            for (size_t count = 1; count <= MAX_INPUTS; count++) check_random(set, lanes, count, 0);
        for (size_t shift = 0; shift < 64; shift++) check_random(set, most, most, shift);
        for (size_t inputs = 0, count; inputs < RANDOM_INPUTS; inputs += count) {
            count = 1 + random_number() % MAX_INPUTS;
            check_random(set, 1 + random_number() % most, count, random_number() % 64);
        }
        printf("%s: agrees with libscrypt, %zu lanes\n", names[set], most);
    }
    return 0;
}
