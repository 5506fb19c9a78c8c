// AuthStorage: the database of accounts, users, API tokens, domains, spent challenges, signing keys
// and credential events.
//
// Owns: one folder per engine, which implements the store protocols of AuthCore, and the embedded
// migrations. Does not know what a token or a proof of work is, does not decrypt signing keys, does
// not read a clock, and never reports an error as an absence.
