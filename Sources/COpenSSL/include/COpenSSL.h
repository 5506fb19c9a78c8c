// OpenSSL 3: digests, HMAC, signatures, AES-GCM and TLS. Inline functions only where OpenSSL has macros. Set up before
// `main`.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// A macro: the parts of a public key, for EVP_PKEY_fromdata.
static inline int postern_public_key_selection(void) {
    return EVP_PKEY_PUBLIC_KEY;
}

// Whether OpenSSL overwrites memory that it frees, except the buffers of TLS records.
int postern_wipes_freed_memory(void);

// Casts of function pointers, which Swift does not have.
static inline void postern_on_server_name(SSL_CTX *context, int (*callback)(SSL *, int *, void *), void *argument) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
    SSL_CTX_set_tlsext_servername_arg(context, argument);
}

static inline void postern_on_status_request(SSL_CTX *context, int (*callback)(SSL *, void *), void *argument) {
    SSL_CTX_set_tlsext_status_cb(context, callback);
    SSL_CTX_set_tlsext_status_arg(context, argument);
}

// Staples a copy of a response to the handshake. Returns 0 without memory.
static inline int postern_staple(SSL *session, const unsigned char *response, size_t bytes) {
    unsigned char *copy = OPENSSL_memdup(response, bytes);
    if (!copy) return 0;
    if (SSL_set_tlsext_status_ocsp_resp(session, copy, (long)bytes) == 1) return 1;
    OPENSSL_free(copy);
    return 0;
}

// Calls `found` with each DNS name and each IP address (4 or 16 bytes) of a certificate (RFC 5280 section 4.2.1.6).
static inline void postern_each_name(
    const X509 *certificate, void *context, void (*found)(void *, int is_address, const unsigned char *, int)) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
        if (name->type == GEN_DNS || name->type == GEN_IPADD)
            found(context, name->type == GEN_IPADD, ASN1_STRING_get0_data(name->d.ia5), ASN1_STRING_length(name->d.ia5));
    }
    GENERAL_NAMES_free(names);
}

// Trusts an authority, and names it to clients. Returns 0 without memory.
static inline int postern_trust_clients_of(SSL_CTX *context, X509 *authority) {
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority) == 1
        && SSL_CTX_add_client_CA(context, authority) == 1;
}

// Constants that Swift cannot import: macros with arguments. Without renegotiation and compression; what was received is
// overwritten when it has been read. The server's order of suites decides, but for a client that prefers ChaCha20 because
// it has no instructions for AES.
static inline void postern_set_server_options(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CLEANSE_PLAINTEXT
            | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}

static inline void postern_never_resume(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
}
