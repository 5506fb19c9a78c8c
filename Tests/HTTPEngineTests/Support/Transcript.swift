@testable import HTTPEngine

extension ParserLimits {
    /// The limits of a server with the default configuration.
    static let standard = ParserLimits(ServerConfiguration())
}

/// The events of a parser, as text that can be compared.
func transcript(
    of input: [UInt8], pieces: [Int], limits: ParserLimits = ParserLimits.standard,
    bodyLimit: Int = 1_024
) -> [String] {
    var parser = RequestParser(limits: limits)
    var lines: [String] = []
    var start = 0
    var pieces = pieces.makeIterator()
    while start < input.count {
        let end = min(input.count, start + max(1, pieces.next() ?? input.count))
        input[start..<end].withUnsafeBytes { parser.append($0) }
        start = end
        drain(&parser, into: &lines, bodyLimit: bodyLimit)
    }
    return lines
}

/// The same for bytes that arrive at once.
func transcript(of text: String, limits: ParserLimits = ParserLimits.standard) -> [String] {
    transcript(of: Array(text.utf8), pieces: [], limits: limits)
}

private func drain(_ parser: inout RequestParser, into lines: inout [String], bodyLimit: Int) {
    while true {
        switch parser.next() {
        case .needMore: return
        case .head(let head):
            lines.append(describe(head))
            parser.readBody(limit: bodyLimit)
        case .body(let body): lines.append("body \(body)")
        case .tooLarge: lines.append("too large")
        case .invalid(let error, let head):
            lines.append("invalid \(error) \(head?.method.name ?? "-") \(head?.path ?? "-")")
        }
    }
}

private func describe(_ head: RequestHead) -> String {
    let fields = HeaderFields(head: head).map { "\($0.name)=\($0.value)" }
    return "\(head.method) \(head.path) \(fields) \(head.framing) 1.\(head.minorVersion)"
        + (head.keepsAlive ? " keeps" : "") + (head.expectsContinue ? " expects" : "")
}
