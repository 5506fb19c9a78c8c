// OpenSSL 3: digests, HMAC, RSA, AES-GCM and TLS. Inline functions only where OpenSSL has macros.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
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
