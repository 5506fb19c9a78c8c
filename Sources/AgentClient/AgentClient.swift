// AgentClient: an agent's side of the agent API.
//
// Owns the requests of a signup, the search for a proof of work with its progress, and the file
// with the credentials. Never uses the server's keys or database: it knows a server by its URL.
