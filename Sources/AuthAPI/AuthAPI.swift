// AuthAPI: the HTTP APIs, one folder for each.
//
// Owns: the pipeline that every request passes. Each endpoint decodes its input, calls one use case
// of AuthCore and encodes the result. Each API renders errors in its own format. Never decides
// who may do what, and never uses sockets, keys or the database.
