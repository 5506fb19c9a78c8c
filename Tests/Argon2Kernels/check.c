// Compares every kernel of CArgon2Kernels that this processor has with libargon2: the vectors of RFC 9106, and random
// inputs of every type, cost and length. For run.sh, which builds it with the address sanitizer: the memory has exactly
// the documented size.
#include "CArgon2Kernels.h"
#include <argon2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_INPUTS = 10000, MOST_BYTES = 300 };

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

static void fail(const char *what, enum postern_argon2_set set, const struct postern_argon2_input *input)
{
    fprintf(stderr, "%s: %s with type = %d, m = %u, t = %u, p = %u\n", names[set], what, (int)input->type,
            input->memory_kib, input->passes, input->lanes);
    exit(1);
}

// The tag by the kernel. The memory has exactly the documented size, so that the sanitizer sees a use of more.
static void hash(enum postern_argon2_set set, const struct postern_argon2_input *input, uint8_t *tag, size_t tag_bytes)
{
    const size_t bytes = 1024 * (size_t)input->memory_kib, used = bytes - bytes % (4096 * (size_t)input->lanes);
    uint8_t *memory = NULL;
    if (posix_memalign((void **)&memory, 64, bytes)) abort();
    // What the memory held must not matter.
    memset(memory, 0xa5, bytes);
    if (!postern_argon2_hash(set, input, memory, tag, tag_bytes)) fail("refused", set, input);
    for (size_t i = 0; i < used; i++) if (memory[i]) fail("memory not wiped", set, input);
    free(memory);
}

static void hash_by_library(const struct postern_argon2_input *input, uint8_t *tag, size_t tag_bytes)
{
    argon2_context context = {
        .out = tag, .outlen = (uint32_t)tag_bytes,
        .pwd = (uint8_t *)input->password.bytes, .pwdlen = (uint32_t)input->password.count,
        .salt = (uint8_t *)input->salt.bytes, .saltlen = (uint32_t)input->salt.count,
        .secret = (uint8_t *)input->secret.bytes, .secretlen = (uint32_t)input->secret.count,
        .ad = (uint8_t *)input->associated.bytes, .adlen = (uint32_t)input->associated.count,
        .t_cost = input->passes, .m_cost = input->memory_kib, .lanes = input->lanes, .threads = 1,
        .version = ARGON2_VERSION_13};
    if (argon2_ctx(&context, input->type == POSTERN_ARGON2_I ? Argon2_i : Argon2_id) != ARGON2_OK) abort();
}

static void check(enum postern_argon2_set set, const struct postern_argon2_input *input, size_t tag_bytes)
{
    uint8_t *tag = malloc(tag_bytes), *expected = malloc(tag_bytes);
    hash(set, input, tag, tag_bytes);
    hash_by_library(input, expected, tag_bytes);
    if (memcmp(tag, expected, tag_bytes)) fail("differs from libargon2", set, input);
    free(tag);
    free(expected);
}

static struct postern_argon2_bytes random_bytes(size_t least, size_t most)
{
    struct postern_argon2_bytes made = {.count = least + random_number() % (most - least + 1)};
    // For no bytes this is memory of which none may be read.
    uint8_t *bytes = malloc(made.count);
    for (size_t i = 0; i < made.count; i++) bytes[i] = (uint8_t)random_number();
    made.bytes = bytes;
    return made;
}

static void check_random(enum postern_argon2_set set)
{
    struct postern_argon2_input input = {
        .type = random_number() % 2 ? POSTERN_ARGON2_ID : POSTERN_ARGON2_I,
        .passes = 1 + random_number() % 4, .lanes = 1 + random_number() % 16,
        .password = random_bytes(0, MOST_BYTES), .salt = random_bytes(8, MOST_BYTES),
        .secret = random_bytes(0, 40), .associated = random_bytes(0, 40)};
    // Up to 160 blocks in a segment: more than one block of addresses.
    input.memory_kib = 8 * input.lanes + random_number() % (input.lanes < 3 ? 640 * input.lanes : 300);
    check(set, &input, 4 + random_number() % MOST_BYTES);
    free((void *)input.password.bytes);
    free((void *)input.salt.bytes);
    free((void *)input.secret.bytes);
    free((void *)input.associated.bytes);
}

// Sections 5.2 and 5.3. libargon2 is held to them, too: it is what all else is compared with.
static void check_vectors(enum postern_argon2_set set)
{
    static const uint8_t tags[2][32] = {
        {0xc8, 0x14, 0xd9, 0xd1, 0xdc, 0x7f, 0x37, 0xaa, 0x13, 0xf0, 0xd7, 0x7f, 0x24, 0x94, 0xbd, 0xa1,
         0xc8, 0xde, 0x6b, 0x01, 0x6d, 0xd3, 0x88, 0xd2, 0x99, 0x52, 0xa4, 0xc4, 0x67, 0x2b, 0x6c, 0xe8},
        {0x0d, 0x64, 0x0d, 0xf5, 0x8d, 0x78, 0x76, 0x6c, 0x08, 0xc0, 0x37, 0xa3, 0x4a, 0x8b, 0x53, 0xc9,
         0xd0, 0x1e, 0xf0, 0x45, 0x2d, 0x75, 0xb6, 0x5e, 0xb5, 0x25, 0x20, 0xe9, 0x6b, 0x01, 0xe6, 0x59}};
    uint8_t password[32], salt[16], secret[8], associated[12], tag[32];
    memset(password, 1, sizeof password);
    memset(salt, 2, sizeof salt);
    memset(secret, 3, sizeof secret);
    memset(associated, 4, sizeof associated);
    for (int i = 0; i < 2; i++) {
        const struct postern_argon2_input input = {
            .type = i ? POSTERN_ARGON2_ID : POSTERN_ARGON2_I, .memory_kib = 32, .passes = 3, .lanes = 4,
            .password = {password, sizeof password}, .salt = {salt, sizeof salt}, .secret = {secret, sizeof secret},
            .associated = {associated, sizeof associated}};
        hash(set, &input, tag, sizeof tag);
        if (memcmp(tag, tags[i], sizeof tag)) fail("differs from RFC 9106", set, &input);
        hash_by_library(&input, tag, sizeof tag);
        if (memcmp(tag, tags[i], sizeof tag)) fail("libargon2 differs from RFC 9106", set, &input);
    }
}

// What is outside the limits is refused before anything is read or written.
static void check_limits(enum postern_argon2_set set)
{
    static const uint8_t salt[8];
    const struct postern_argon2_input good = {
        .type = POSTERN_ARGON2_ID, .memory_kib = 16, .passes = 1, .lanes = 2, .salt = {salt, sizeof salt}};
    struct postern_argon2_input bad[] = {good, good, good, good, good, good, good, good, good, good, good, good};
    bad[0].type = 0;
    bad[1].type = 3;
    bad[2].memory_kib = 15;
    bad[3].memory_kib = 0;
    bad[4].lanes = 0;
    bad[5].lanes = UINT32_MAX;
    bad[6].passes = 0;
    bad[7].salt.count = 7;
    bad[8].salt.count = 1ul << 32;
    bad[9].password.count = 1ul << 32;
    bad[10].secret.count = 1ul << 32;
    bad[11].associated.count = 1ul << 32;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (postern_argon2_hash(set, &bad[i], NULL, NULL, 32)) fail("not refused", set, &bad[i]);
    if (postern_argon2_hash(set, &good, NULL, NULL, 3)) fail("a tag of 3 bytes", set, &good);
    if (postern_argon2_hash(set, &good, NULL, NULL, 1ul << 32)) fail("a tag of 4 GiB", set, &good);
    for (size_t bytes = 4; bytes <= MOST_BYTES; bytes++) check(set, &good, bytes);
}

int main(void)
{
    for (enum postern_argon2_set set = POSTERN_ARGON2_SSE2; set <= POSTERN_ARGON2_AVX512; set++) {
        if (!postern_argon2_is_supported(set)) {
            printf("%s: not tested, this processor does not have it\n", names[set]);
            continue;
        }
        check_vectors(set);
        check_limits(set);
        for (int i = 0; i < RANDOM_INPUTS; i++) check_random(set);
        printf("%s: agrees with libargon2\n", names[set]);
    }
    return 0;
}
