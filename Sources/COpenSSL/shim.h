// OpenSSL 3: digests, HMAC, signatures, AES-GCM and TLS. Inline functions only where OpenSSL has macros.
#pragma once
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// A macro: the parts of a public key, for EVP_PKEY_fromdata.
static inline int postern_public_key_selection(void) {
    return EVP_PKEY_PUBLIC_KEY;
}

// Memory functions that overwrite what is freed: OpenSSL frees the DER of an exported private key without doing so.
static inline void *postern_allocate(size_t bytes, const char *file, int line) {
    (void)file, (void)line;
    return malloc(bytes);
}

static inline void postern_free(void *memory, const char *file, int line) {
    (void)file, (void)line;
    if (memory) explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

static inline void *postern_reallocate(void *memory, size_t bytes, const char *file, int line) {
    if (bytes == 0) {
        postern_free(memory, file, line);
        return NULL;
    }
    size_t usable = memory ? malloc_usable_size(memory) : 0;
    if (memory && bytes <= usable) return memory;
    void *larger = malloc(bytes);
    if (larger && memory) {
        memcpy(larger, memory, usable);
        postern_free(memory, file, line);
    }
    return larger;
}

// Returns 0 when OpenSSL has allocated memory before.
static inline int postern_wipe_freed_memory(void) {
    return CRYPTO_set_mem_functions(postern_allocate, postern_reallocate, postern_free);
}
