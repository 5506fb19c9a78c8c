// libFuzzer's entry: octets from it are a connection's input. The first octet says how they are
// split; the parser must not trap, and must say the same as when it is fed all at once.

private let limits = ParserLimits(
    requestLineBytes: 200, headBytes: 500, headerCount: 8, chunkExtensionBytes: 16,
    trailerBytes: 40)

private func transcript(_ input: UnsafeRawBufferPointer, piece: Int) -> [String] {
    var parser = RequestParser(limits: limits)
    var lines: [String] = []
    var start = 0
    while start < input.count {
        let end = min(input.count, start + piece)
        parser.append(UnsafeRawBufferPointer(rebasing: input[start..<end]))
        start = end
        var isFed = true
        while isFed {
            switch parser.next() {
            case .needMore: isFed = false
            case .head(let head):
                lines.append("\(head.method) \(head.path) \(head.framing) \(head.keepsAlive)")
                lines += HeaderFields(head: head).map { "\($0.name): \($0.value)" }
                lines += Array(PathSegments(head)).map { String(decoding: $0, as: UTF8.self) }
                parser.readBody(limit: 64)
            case .body(let body): lines.append("\(body)")
            case .tooLarge: lines.append("too large")
            case .refused(let error, let head): lines.append("\(error) \(head?.path ?? "-")")
            }
        }
    }
    return lines
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: data, count: count)
    guard let first = input.first else { return 0 }
    let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst())
    let whole = transcript(rest, piece: max(1, rest.count))
    let split = transcript(rest, piece: 1 + Int(first % 16))
    precondition(whole == split, "the split changes what is read")
    return 0
}
