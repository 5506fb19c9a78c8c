// PosternTesting: a Postern in the process of a test.
//
// Owns the types that a test suite in Swift sees: a server, and what was made on it. Never decides
// what an account, a token or the time is: AuthCore and the program do.
