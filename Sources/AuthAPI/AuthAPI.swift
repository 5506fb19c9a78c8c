// AuthAPI: the HTTP surfaces.
//
// Owns: turning requests into calls of AuthCore and their outcome into answers, each surface in
// its own error shape: decode, one AuthCore call, encode. Never decides who may do what, and never
// touches a socket, a key or the database.
