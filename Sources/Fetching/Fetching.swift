// Fetching: what is asked of other people's servers.
//
// Owns: one HTTP request and its one bounded answer, over libcurl; the same for URLs that strangers
// name, with the rules on where it may go (Guarded/); one look-up in the DNS, over the C library's
// resolver; each on a pool of its own. Never follows a redirect, obeys a proxy variable, keeps a
// cookie or reads a password file; never knows what a token is.
