// StrictJSON owns the one reader and the one writer of JSON that every surface uses.
//
// It accepts RFC 8259 to the letter and nothing else, because two programs that read one body in
// two ways are an attack surface: a duplicate member, invalid UTF-8, a lone surrogate, a byte order
// mark, a number that is not finite and nesting deeper than `JSONValue.maximumDepth` are all
// malformed. It never knows what a member means, does no I/O, and does not trap on any input.
