// Cryptography
