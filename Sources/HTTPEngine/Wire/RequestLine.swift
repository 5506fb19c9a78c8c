/// `METHOD SP target SP HTTP/1.x`, read from the bytes of one line without its CR LF.
struct RequestLine {
    let method: Method
    let target: RequestTarget
    let minorVersion: UInt8

    /// - Parameter range: the line in `bytes`. The ranges of the target are relative to its
    ///   beginning.
    init(_ bytes: [UInt8], in range: Range<Int>) throws(ParseError) {
        var index = range.lowerBound
        while index < range.upperBound, ASCII.isToken(bytes[index]) { index += 1 }
        guard index > range.lowerBound, index < range.upperBound,
            bytes[index] == UInt8(ascii: " ")
        else { throw .badRequestLine }
        method = Method(String(decoding: bytes[range.lowerBound..<index], as: UTF8.self))
        let start = index + 1
        // Read from the end: the version has a fixed length, and the target has no space.
        let versionStart = range.upperBound - 8
        guard versionStart > start, bytes[versionStart - 1] == UInt8(ascii: " ") else {
            throw .badVersion
        }
        minorVersion = try RequestLine.minorVersion(bytes, at: versionStart)
        // The target of CONNECT is an authority; only proxies support it.
        guard method != .connect else { throw .unsupportedMethod }
        guard let target = RequestTarget(bytes, in: start..<versionStart - 1),
            !target.isAsterisk || method == .options
        else { throw .badTarget }
        if let authority = target.authority {
            guard Authority.isValid(bytes, in: authority) else { throw .badTarget }
        }
        self.target = target.relative(to: range.lowerBound)
    }

    /// Reads parts of an invalid or incomplete line: the method, and the target up to its end or to
    /// the end of the line. `nil` without a method and a space after it.
    init?(legibleIn bytes: [UInt8], _ range: Range<Int>) {
        let parts = bytes[range].split(
            separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1, !parts[0].isEmpty, parts[0].allSatisfy(ASCII.isToken) else {
            return nil
        }
        method = Method(String(decoding: parts[0], as: UTF8.self))
        target = RequestTarget(legibleIn: bytes, parts[1].indices)
            .relative(to: range.lowerBound)
        minorVersion = 1
    }

    /// A minor version above 1 is handled as 1.1 (RFC 9110 §6.2).
    private static func minorVersion(_ bytes: [UInt8], at start: Int) throws(ParseError) -> UInt8 {
        for (offset, byte) in "HTTP/".utf8.enumerated() where bytes[start + offset] != byte {
            throw .badVersion
        }
        let major = bytes[start + 5]
        let minor = bytes[start + 7]
        guard ASCII.isDigit(major), bytes[start + 6] == UInt8(ascii: "."), ASCII.isDigit(minor)
        else { throw .badVersion }
        guard major == UInt8(ascii: "1") else { throw .unsupportedVersion }
        return minor == UInt8(ascii: "0") ? 0 : 1
    }
}
