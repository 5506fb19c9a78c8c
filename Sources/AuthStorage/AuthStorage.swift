// AuthStorage: where accounts, users and what they own, spent challenges, signing keys and the
// record of credential events are kept.
//
// Owns: one folder per engine (SQLite, Memory), each conforming to the store protocols of AuthCore,
// and the numbered migrations that bring a database to the shape this program knows. Never knows
// what a token or a proof of work is, never opens a sealed key, never reads a clock, and never
// reports trouble as an absence.
