// Cryptography: digests, HMAC, signatures, AES-GCM, scrypt and Argon2 of the C libraries, and small
// pure functions: base64url, hexadecimal, random bytes, constant-time comparison.
//
// Owns: every call to OpenSSL, libargon2 and libscrypt, and the memory of their keys. Functions
// take bytes and return bytes. Never knows what a token, a challenge or an account is, never reads
// a clock, and does no input or output except reading random bytes from the kernel. Scrypt, Argon2
// and RSA take milliseconds: callers run them on a worker pool.
