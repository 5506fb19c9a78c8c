// Fetching: requests to servers that other people run.
//
// Owns: one HTTP request and its one bounded response, over libcurl; the same for URLs that
// clients name, with the rules on which addresses may be connected to (Guarded/); look-ups in the
// DNS with the C library's resolver (DNS/); mail for the operator's relay (SMTP/); each on pools of
// its own. Never follows a redirect, uses a proxy of the environment, keeps a cookie or reads a
// password file; never knows what a token is.
