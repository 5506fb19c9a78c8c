/// How much of everything a parser takes; see ``ServerConfiguration`` for each.
struct ParserLimits: Sendable {
    var requestLineBytes: Int
    var headBytes: Int
    var headerCount: Int
    var chunkExtensionBytes: Int
    var trailerBytes: Int
}
