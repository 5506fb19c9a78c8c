/// The positions of path and query in a request target (RFC 9112 §3.2).
///
/// Guarantees: with `isDecodable` every percent escape of the path is well formed and the decoded
/// segments are UTF-8 without NUL, so that decoding cannot fail later. Dot segments are not
/// resolved: routes are not files, and `..` is a name like any other.
struct RequestTarget: Sendable, Equatable {
    /// Without the query and without scheme and authority.
    let path: Range<Int>
    /// After the `?`, if there is one.
    let query: Range<Int>?
    /// Between `//` and the path of an absolute-form target.
    let authority: Range<Int>?
    let hasEscapes: Bool
    let isDecodable: Bool
    /// `OPTIONS *`: the server itself.
    let isAsterisk: Bool

    init(
        path: Range<Int>, query: Range<Int>? = nil, authority: Range<Int>? = nil,
        hasEscapes: Bool = false, isDecodable: Bool = true, isAsterisk: Bool = false
    ) {
        self.path = path
        self.query = query
        self.authority = authority
        self.hasEscapes = hasEscapes
        self.isDecodable = isDecodable
        self.isAsterisk = isAsterisk
    }

    /// Reads origin-form, absolute-form (`http` and `https`) or `*`; nil for anything else.
    init?(_ bytes: [UInt8], in range: Range<Int>) {
        guard let first = range.first.map({ bytes[$0] }) else { return nil }
        if first == UInt8(ascii: "*"), range.count == 1 {
            self.init(path: range, isAsterisk: true)
            return
        }
        var start = range.lowerBound
        var authority: Range<Int>?
        if first != UInt8(ascii: "/") {
            guard let begin = RequestTarget.afterScheme(bytes, in: range) else { return nil }
            start = begin
            while start < range.upperBound, !RequestTarget.endsAuthority(bytes[start]) {
                start += 1
            }
            authority = begin..<start
            guard begin < start else { return nil }
        }
        guard let scan = RequestTarget.scan(bytes, in: start..<range.upperBound) else { return nil }
        let path = start..<scan.pathEnd
        guard !scan.pathHasEscapes || PercentCoding.isDecodable(bytes, in: path) else { return nil }
        self.init(
            path: path,
            query: scan.pathEnd < range.upperBound ? scan.pathEnd + 1..<range.upperBound : nil,
            authority: authority, hasEscapes: scan.pathHasEscapes)
    }

    /// The path of a target that is invalid or incomplete. It is never decoded.
    init(legibleIn bytes: [UInt8], _ range: Range<Int>) {
        var start = range.lowerBound
        if let authority = RequestTarget.afterScheme(bytes, in: range) {
            start =
                bytes[authority..<range.upperBound].firstIndex(where: RequestTarget.endsAuthority)
                ?? range.upperBound
        }
        let end = bytes[start..<range.upperBound].firstIndex(where: RequestTarget.endsPath)
        self.init(path: start..<(end ?? range.upperBound), isDecodable: false)
    }

    /// The same target, its ranges counted from `base`.
    func relative(to base: Int) -> RequestTarget {
        func moved(_ range: Range<Int>) -> Range<Int> {
            range.lowerBound - base..<range.upperBound - base
        }
        return RequestTarget(
            path: moved(path), query: query.map(moved), authority: authority.map(moved),
            hasEscapes: hasEscapes, isDecodable: isDecodable, isAsterisk: isAsterisk)
    }

    /// Accepts the path and query characters of RFC 3986 and `%`. Some clients send other
    /// characters (`|`, `[`, `"`); these are not accepted.
    private static func scan(
        _ bytes: [UInt8], in range: Range<Int>
    ) -> (pathEnd: Int, pathHasEscapes: Bool)? {
        var pathEnd: Int?
        var hasEscapes = false
        for index in range {
            let byte = bytes[index]
            guard ASCII.isTarget(byte) else { return nil }
            if byte == UInt8(ascii: "?"), pathEnd == nil { pathEnd = index }
            if byte == UInt8(ascii: "%") {
                guard PercentCoding.isEscape(bytes, at: index, before: range.upperBound) else {
                    return nil
                }
                if pathEnd == nil { hasEscapes = true }
            }
        }
        return (pathEnd ?? range.upperBound, hasEscapes)
    }

    private static func afterScheme(_ bytes: [UInt8], in range: Range<Int>) -> Int? {
        for scheme in ["http://", "https://"] {
            let end = range.lowerBound + scheme.utf8.count
            if end < range.upperBound,
                ASCII.equalIgnoringCase(bytes, range.lowerBound..<end, scheme)
            {
                return end
            }
        }
        return nil
    }

    private static func endsPath(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
            || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
