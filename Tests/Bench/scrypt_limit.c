// The highest rate of scrypt (N 16384, r 8, p 1) on this machine: all cores for the given seconds.
#include "all_cores.h"
#include <libscrypt.h>
#include <stdint.h>
#include <stdlib.h>

static void hash(void) {
    static const uint8_t input[40], salt[64];
    uint8_t out[64];
    if (libscrypt_scrypt(input, sizeof input, salt, sizeof salt, 16384, 8, 1, out, 64)) abort();
}

int main(int argc, char **argv) {
    repeat_on_all_cores(argc > 1 ? atof(argv[1]) : 5, hash);
    return 0;
}
