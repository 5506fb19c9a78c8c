// Tests of Cryptography.
