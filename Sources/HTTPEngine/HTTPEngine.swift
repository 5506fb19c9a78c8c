// HTTPEngine: bytes to Request, Response to bytes.
//
// Owns: sockets, HTTP/1.1 framing (RFC 9110, RFC 9112), every limit and deadline of a connection,
// the route table, request ids and the access record of each request.
// Never knows what a token, an account or a JSON body is, never logs (it tells its hooks), and
// never runs slow work on a loop: a handler that computes or blocks for long takes that elsewhere.
//
//   Message/  what handlers see: Request, Response, Method, Status, PeerAddress
//   Wire/     pure structs, no socket, no clock: RequestParser, ResponseEncoder, ProxyHeader
//   Routing/  the route table: Route, RouteGroup, Router, and the faults a group renders
//   Server/   Server accepts, Loop polls, Connection moves bytes as ConnectionState says
