// Fetching: outbound HTTP.
//
// Owns: one request, one bounded answer, over libcurl, on a pool of its own. Never follows a
// redirect, obeys a proxy variable, keeps a cookie or reads a password file; never knows what a
// token is.
