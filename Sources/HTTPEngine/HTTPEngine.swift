// HTTPEngine: bytes to Request, Response to bytes.
//
// Owns sockets, HTTP/1.1 framing (RFC 9110, RFC 9112), every limit and deadline of a connection,
// the route table, request ids and access records. It does not know tokens, accounts or JSON, does
// not log (it calls hooks), and never runs slow work on a loop: a handler that computes or blocks
// for long does so on another executor.
//
// Each folder depends only on those above it:
//   Grammar/     character classes, percent-coding, host[:port]
//   Message/     what handlers see: Request, Response, HeaderFields
//   Wire/        RequestParser and ResponseEncoder: structs without socket and clock
//   Proxy/       the client behind trusted proxies: PROXY protocol, X-Forwarded-For, Forwarded
//   Routing/     Route, RouteGroup, Router, and the errors that a group renders
//   Connection/  the parts of a connection: input, output, phase, buffer charge, transport
//   TLS/         what the TLS connections of a listener share, and TLS as a transport
//   Sessions/    what the state machine of another protocol than HTTP has to be
//   Netstrings/  such a protocol: netstrings as requests and replies
//   Server/      Server, its listeners and loops, and the connections that connect their parts
