// The entry of libFuzzer: its bytes are the input of a connection. The first byte decides how they
// are split. The parser must not trap, and its result must not depend on the split. The same holds
// for the PROXY header, and no forwarded list may replace the entry of the last proxy.

import Networking

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
            case .invalid(let error, let head): lines.append("\(error) \(head?.path ?? "-")")
            }
        }
    }
    return lines
}

/// The result does not depend on the split, and the header ends within the input.
private func checkProxyHeader(_ input: [UInt8], piece: Int) {
    let whole = ProxyHeader.read(input)
    if case .done(_, let bytes) = whole { precondition(bytes <= input.count) }
    for count in stride(from: 0, to: input.count, by: piece) {
        let progress = ProxyHeader.read(Array(input[..<count]))
        precondition(progress == .needMore || progress == whole, "the split changes the header")
    }
}

/// The client is the entry that the proxy adds on a line of its own, whatever precedes it.
private func checkForwarded(_ input: [UInt8]) {
    let text = String(decoding: input.filter { ASCII.isFieldValue($0) }, as: UTF8.self)
    guard let block = IPBlock("10.0.0.0/8"), let proxy = IPAddress("10.0.0.1") else { return }
    var proxies = TrustedProxies()
    proxies.addresses = [block]
    for header in ForwardedHeader.allCases {
        proxies.forwardedHeader = header
        let own = header == .forwarded ? "for=203.0.113.9" : "203.0.113.9"
        let request = Request(
            method: .get, target: "/",
            headers: [(header.rawValue, text), (header.rawValue, own)])
        let client = ForwardedFor.client(
            of: request.headers, from: proxy, trusting: proxies)
        precondition(
            client.description == "203.0.113.9", "the client replaced the entry of the proxy")
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: data, count: count)
    guard let first = input.first else { return 0 }
    let rest = UnsafeRawBufferPointer(rebasing: input.dropFirst())
    let whole = transcript(rest, piece: max(1, rest.count))
    let split = transcript(rest, piece: 1 + Int(first % 16))
    precondition(whole == split, "the split changes what is read")
    checkProxyHeader(Array(rest), piece: 1 + Int(first % 16))
    checkForwarded(Array(rest))
    return 0
}
