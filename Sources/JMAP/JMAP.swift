// JMAP: requests of the JSON Meta Application Protocol (RFC 8620) and their method calls.
//
// Owns: what a request is, result references, creation ids, the errors of requests and methods, and
// the order in which calls are made. Never knows HTTP, sockets, tokens or how mail is stored.
