// AuthAPI: the HTTP APIs, one folder for each.
//
// Owns: the pipeline that every request passes, and for each endpoint decoding, one use case of
// AuthCore, and encoding; each API renders errors in its own format. Never decides who may do what,
// and never touches a socket, a key or the database.
