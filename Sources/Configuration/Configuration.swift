// Configuration: everything that an operator can set.
//
// Owns the settings with their defaults, their syntax and the rules between them; reading them from
// the file, the environment and the command line; and which of them a server takes over while it
// runs. Never opens a database or a socket, and never starts what the settings describe.
