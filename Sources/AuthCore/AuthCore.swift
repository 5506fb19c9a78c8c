// AuthCore: the domain: accounts, users, domains, proof of work, tokens, limits.
//
// Owns: the rules of the three APIs as types and use cases, and the protocols of the stores.
// Never uses HTTP, JSON bodies, SQL, sockets or a clock: time is an argument, stores are protocols,
// and slow work runs on pools that the program passes.
//
// Folders, each using only those before it: Basics, Errors, Model, Store, Limits, Passwords,
// Tokens, ProofOfWork, UseCases.
