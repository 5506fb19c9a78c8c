/// How much of everything a parser takes; see ``ServerConfiguration`` for each.
struct ParserLimits: Sendable {
    var requestLineBytes = 8_192
    var headBytes = 32_768
    var headerCount = 100
    var chunkExtensionBytes = 1_024
    var trailerBytes = 8_192
}
