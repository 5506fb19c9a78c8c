// The highest rate of Argon2id on this machine: hashes on all cores for the given seconds. Each
// further argument is one hash: memory in KiB and passes ("19456,2"). An operation is all of them.
#include "all_cores.h"
#include <argon2.h>
#include <stdint.h>
#include <stdlib.h>

static int hash_count;
static uint32_t memory[8], passes[8];

static void hash(void) {
    static const uint8_t secret[32], salt[16];
    uint8_t out[32];
    for (int i = 0; i < hash_count; i++) {
        if (argon2id_hash_raw(passes[i], memory[i], 1, secret, sizeof secret, salt, sizeof salt,
                              out, sizeof out) != ARGON2_OK)
            abort();
    }
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 10) return 1;
    hash_count = argc - 2;
    for (int i = 0; i < hash_count; i++)
        if (sscanf(argv[i + 2], "%u,%u", &memory[i], &passes[i]) != 2) return 1;
    repeat_on_all_cores(atof(argv[1]), hash);
    return 0;
}
