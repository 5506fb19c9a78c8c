/// The fields of a head that matter to the connection: where the body ends, whether the connection
/// persists, whether the client waits for `100 Continue`. A field that two implementations could
/// read differently is not accepted (RFC 9112 §6.3, §11.2).
struct HeadSemantics {
    private(set) var hosts = 0
    private(set) var expectsContinue = false
    /// nil also if there is more than one.
    private(set) var trace: TraceContext?
    private var hasTrace = false
    private var contentLength: Int?
    private var codings: [String] = []
    private var hasTransferEncoding = false
    private var asksClose = false
    private var asksKeepAlive = false

    /// Reads one field of the head; most are skipped.
    mutating func read(_ field: RequestHead.Field, of bytes: [UInt8], base: Int) throws(ParseError)
    {
        let name = base + Int(field.nameStart)..<base + Int(field.nameEnd)
        let value = base + Int(field.valueStart)..<base + Int(field.valueEnd)
        switch name.count {
        case 4 where ASCII.equalIgnoringCase(bytes, name, "host"):
            hosts += 1
            guard hosts == 1, Authority.isValid(bytes, in: value) else { throw .badHost }
        case 6 where ASCII.equalIgnoringCase(bytes, name, "expect"):
            guard ASCII.equalIgnoringCase(bytes, value, "100-continue") else {
                throw .unknownExpectation
            }
            expectsContinue = true
        case 10 where ASCII.equalIgnoringCase(bytes, name, "connection"):
            for token in HeadSemantics.list(bytes, in: value) {
                if token == "close" { asksClose = true }
                if token == "keep-alive" { asksKeepAlive = true }
            }
        case 11 where ASCII.equalIgnoringCase(bytes, name, "traceparent"):
            trace = hasTrace ? nil : TraceContext(bytes[value])
            hasTrace = true
        case 14 where ASCII.equalIgnoringCase(bytes, name, "content-length"):
            // Two are not accepted even if they are equal.
            guard contentLength == nil else { throw .badContentLength }
            contentLength = try HeadSemantics.length(bytes, in: value)
        case 17 where ASCII.equalIgnoringCase(bytes, name, "transfer-encoding"):
            hasTransferEncoding = true
            codings += HeadSemantics.list(bytes, in: value)
        default: break
        }
    }

    func framing(minorVersion: UInt8) throws(ParseError) -> RequestHead.Framing {
        if hasTransferEncoding {
            // HTTP/1.0 does not define it (RFC 9112 §6.1).
            guard contentLength == nil, minorVersion > 0 else { throw .badTransferEncoding }
            guard codings.allSatisfy({ $0.utf8.allSatisfy(ASCII.isToken) && !$0.isEmpty }),
                !codings.dropLast().contains("chunked"), let last = codings.last
            else { throw .badTransferEncoding }
            guard last == "chunked", codings.count == 1 else { throw .unknownTransferCoding }
            return .chunked
        }
        guard let contentLength, contentLength > 0 else { return .none }
        return .length(contentLength)
    }

    func checkHost(minorVersion: UInt8) throws(ParseError) {
        if hosts == 0, minorVersion > 0 { throw .badHost }
    }

    /// RFC 9112 §9.3.
    func keepsAlive(minorVersion: UInt8) -> Bool {
        !asksClose && (minorVersion > 0 || asksKeepAlive)
    }

    /// Digits only: `Int(_:)` would take `+5`. Eighteen of them fit an Int.
    private static func length(_ bytes: [UInt8], in range: Range<Int>) throws(ParseError) -> Int {
        guard (1...18).contains(range.count) else { throw .badContentLength }
        var length = 0
        for index in range {
            guard ASCII.isDigit(bytes[index]) else { throw .badContentLength }
            length = length * 10 + Int(bytes[index] - 0x30)
        }
        return length
    }

    /// The elements of a comma-separated list, lower-cased; empty ones are kept.
    private static func list(_ bytes: [UInt8], in range: Range<Int>) -> [String] {
        let elements = bytes[range].split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return elements.map { element in
            ASCII.name(element.trimmingBlanks.map(ASCII.lowered))
        }
    }
}
