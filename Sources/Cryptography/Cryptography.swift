// Cryptography owns the C libraries' algorithms: digests, HMAC, RSA, AES-GCM, scrypt, Argon2, and
// the small pure functions around them: base64url, hexadecimal, random bytes, constant-time
// equality.
//
// Functions here take bytes and return bytes. This room never knows what a token, a challenge or an
// account is, never keeps a clock, and does no input or output but asking the kernel for
// randomness. Scrypt, Argon2 and RSA take milliseconds: callers run them off the loops that serve
// sockets.
