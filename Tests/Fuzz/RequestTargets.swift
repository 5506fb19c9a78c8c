import Networking

@testable import AuthAPI
@testable import HTTPEngine

// What a client or a proxy sends. In targets that split their input, the first byte says how.

private let limits = ParserLimits(
    requestLineBytes: 200, headBytes: 500, headerCount: 8, chunkExtensionBytes: 16,
    trailerBytes: 40)

private func pieceLength(_ input: [UInt8]) -> Int { 1 + Int((input.first ?? 0) % 16) }

/// The result of the parser does not depend on how the bytes are split.
func checkRequest(_ input: [UInt8]) {
    let bytes = Array(input.dropFirst())
    let whole = transcript(bytes, piece: max(1, bytes.count))
    let split = transcript(bytes, piece: pieceLength(input))
    precondition(whole == split, "the split changes what is read")
}

private func transcript(_ input: [UInt8], piece: Int) -> [String] {
    var parser = RequestParser(limits: limits)
    var lines: [String] = []
    for start in stride(from: 0, to: input.count, by: piece) {
        let end = min(input.count, start + piece)
        input[start..<end].withUnsafeBytes { parser.append($0) }
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

/// The result does not depend on the split, and what was read has one text: together with what is
/// left it gives the same bytes again.
func checkNetstrings(_ input: [UInt8]) {
    let bytes = Array(input.dropFirst())
    let whole = netstrings(in: bytes, piece: max(1, bytes.count))
    precondition(
        whole == netstrings(in: bytes, piece: pieceLength(input)), "the split changes what is read")
    guard !whole.contains(.oversized) else { return }
    var again: [UInt8] = []
    for case .netstring(let content) in whole {
        precondition(content.count <= 64)
        again.append(netstring: content)
    }
    precondition(bytes.starts(with: again), "two texts are one netstring")
}

private func netstrings(in input: [UInt8], piece: Int) -> [NetstringReader.Event] {
    var reader = NetstringReader(maxBytes: 64)
    var events: [NetstringReader.Event] = []
    for start in stride(from: 0, to: input.count, by: piece) {
        input[start..<min(input.count, start + piece)].withUnsafeBytes { reader.append($0) }
        while true {
            let event = reader.next()
            if event == .needMore { break }
            events.append(event)
            if event == .invalid { return events }
        }
    }
    return events
}

/// The result does not depend on the split, and the header ends within the input.
func checkProxyHeader(_ input: [UInt8]) {
    let bytes = Array(input.dropFirst())
    let whole = ProxyHeader.read(bytes)
    if case .done(_, let count) = whole { precondition(count <= bytes.count) }
    for count in stride(from: 0, to: bytes.count, by: pieceLength(input)) {
        let progress = ProxyHeader.read(Array(bytes[..<count]))
        precondition(progress == .needMore || progress == whole, "the split changes the header")
    }
}

/// The client is the entry that the proxy adds, whatever precedes it: on a line of its own or on the
/// same line after a comma.
func checkForwarded(_ input: [UInt8]) {
    let text = String(decoding: input.filter { ASCII.isFieldValue($0) }, as: UTF8.self)
    guard let block = IPBlock("10.0.0.0/8"), let proxy = IPAddress("10.0.0.1") else { return }
    var proxies = TrustedProxies()
    proxies.addresses = [block]
    for header in ForwardedHeader.allCases {
        proxies.forwardedHeader = header
        let own = header == .forwarded ? "for=203.0.113.9" : "203.0.113.9"
        for lines in [[text, own], ["\(text), \(own)"]] {
            let request = Request(
                method: .get, target: "/", headers: lines.map { (header.rawValue, $0) })
            let client = ForwardedFor.client(of: request.headers, from: proxy, trusting: proxies)
            precondition(
                client.description == "203.0.113.9", "the client replaced the entry of the proxy")
        }
    }
}

/// The header fields that the APIs read: credentials, cookies, media types, origins.
func checkHeaderFields(_ input: [UInt8]) {
    let text = String(decoding: input.filter { ASCII.isFieldValue($0) }, as: UTF8.self)
    let names = ["authorization", "cookie", "content-type", "accept", "origin", "host"]
    let request = Request(method: .post, target: "/", headers: names.map { ($0, text) })
    precondition(request.hasNoToken == (request.presentedToken == nil))
    if let token = request.bearerToken { precondition(!token.isEmpty) }
    _ = SessionCookie(publicURL: "https://example.test").token(of: request)
    _ = request.responseFormat
    _ = request.isCrossOriginWrite
    for type in request.headers.mediaTypes { precondition(!type.utf8.contains(UInt8(ascii: ";"))) }
}

/// A form and its JSON twin.
func checkForm(_ input: [UInt8]) {
    for type in ["application/x-www-form-urlencoded", "application/json"] {
        let request = Request(
            method: .post, target: "/login", headers: [("content-type", type)], body: input)
        guard let fields = try? HashLoginFields(request) else { continue }
        precondition(fields["email"] != "", "an empty field counts as absent")
    }
}
