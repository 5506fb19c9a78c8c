// StrictJSON: the one reader and the one writer of JSON.
//
// Owns: the syntax of RFC 8259, and nothing more lenient. If two programs read one body in
// different ways, an attacker can use the difference. A duplicate member, invalid UTF-8, a lone
// surrogate, a byte order mark, a number that is not finite and nesting deeper than
// `JSONValue.maximumDepth` are errors. Never knows what a member means, does no I/O, and does not
// trap on any input.
