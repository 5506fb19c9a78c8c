// Cryptography owns the C libraries' algorithms: digests, HMAC, RSA, AES-GCM, scrypt, Argon2, and
// the small pure functions around them: base64url, hexadecimal, random bytes, constant-time equality.
//
// Functions here take bytes and return bytes. Nothing in this room knows what a token, a challenge or
// an account is, keeps a clock, or does input and output other than asking the kernel for randomness.
// Scrypt, Argon2 and RSA take milliseconds: callers run them off the loops that serve sockets.
