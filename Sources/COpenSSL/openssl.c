// Sets OpenSSL up before any other code of the process uses it.
#include "COpenSSL.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// Memory functions that overwrite what is freed: OpenSSL frees the DER of an exported private key
// without doing so. Not the buffers of TLS records: OpenSSL gets two of 17 KiB for every request,
// encrypts in place what it sends, and overwrites what was received itself
// (SSL_OP_CLEANSE_PLAINTEXT). A private key is smaller: one of RSA with 16,384 bits has 9 KiB.
#define RECORD_BYTES 16384

static void wipe(void *memory) {
    size_t bytes = malloc_usable_size(memory);
    if (bytes < RECORD_BYTES) explicit_bzero(memory, bytes);
}

static void *allocate(size_t bytes, const char *file, int line) {
    (void)file, (void)line;
    return malloc(bytes);
}

static void release(void *memory, const char *file, int line) {
    (void)file, (void)line;
    if (memory) wipe(memory);
    free(memory);
}

static void *reallocate(void *memory, size_t bytes, const char *file, int line) {
    if (bytes == 0) {
        release(memory, file, line);
        return NULL;
    }
    size_t usable = memory ? malloc_usable_size(memory) : 0;
    if (memory && bytes <= usable) return memory;
    void *larger = malloc(bytes);
    if (larger && memory) {
        memcpy(larger, memory, usable);
        release(memory, file, line);
    }
    return larger;
}

static int wipes_freed_memory;

int postern_wipes_freed_memory(void) { return wipes_freed_memory; }

__attribute__((constructor)) static void set_up(void) {
    // Fails where another library has used OpenSSL before, in the process of somebody's tests.
    wipes_freed_memory = CRYPTO_set_mem_functions(allocate, reallocate, release);
    // No OPENSSL_cleanup at exit: it frees the locks of threads that are still making a key or
    // hashing, and they crash. It saves nothing, because the process ends.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
