// AuthCore: what a mailbox, a challenge, a token and a refusal mean.
//
// Owns: the rules of signing up, proving work, logging in and being turned away, as types and use
// cases. Never knows HTTP, JSON bodies, SQL, sockets or a clock: time is an argument, storage is
// small protocols, slow work goes to a pool that it is handed.
