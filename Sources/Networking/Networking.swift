// Networking: IP addresses, blocks of them, and socket addresses.
//
// Owns: their text forms, their order, the registries of special-purpose addresses, and the look-up
// of a host name; the only module that calls inet_pton, inet_ntop and getaddrinfo. Never opens a
// socket, and never decides who may connect where.
