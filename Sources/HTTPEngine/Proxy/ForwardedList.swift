/// Reads one line of RFC 7239's `Forwarded`: elements with commas between them, each of
/// `name=value` pairs with semicolons between them, values as tokens or quoted strings.
///
/// It is read from its beginning, because quoted strings can only be found from there.
struct ForwardedList {
    private struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    /// - Returns: the `for` of each element, unquoted, `nil` where it has none; `nil` for a
    ///   malformed line.
    static func nodes(_ line: ArraySlice<UInt8>) -> [[UInt8]?]? {
        var list = ForwardedList(bytes: Array(line))
        return try? list.elements()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func elements() throws(Malformed) -> [[UInt8]?] {
        var nodes: [[UInt8]?] = []
        repeat { nodes.append(try element()) } while take(UInt8(ascii: ","))
        guard position == bytes.count else { throw Malformed() }
        return nodes
    }

    private mutating func element() throws(Malformed) -> [UInt8]? {
        var node: [UInt8]?
        repeat {
            skipBlanks()
            let name = token()
            // RFC 7239 §4 allows empty pairs and empty elements.
            guard !name.isEmpty else { continue }
            guard take(UInt8(ascii: "=")) else { throw Malformed() }
            let value = try value()
            skipBlanks()
            guard ASCII.equalIgnoringCase(name[...], "for") else { continue }
            // §4: a parameter occurs once. One of two may be the client's own.
            guard node == nil else { throw Malformed() }
            node = value
        } while take(UInt8(ascii: ";"))
        return node
    }

    private mutating func value() throws(Malformed) -> [UInt8] {
        guard take(UInt8(ascii: "\"")) else {
            let value = token()
            // An unquoted address with a port is not allowed by §4, but very common.
            guard take(UInt8(ascii: ":")) else { return value }
            return value + [UInt8(ascii: ":")] + token()
        }
        var text: [UInt8] = []
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return text }
            if byte == UInt8(ascii: "\\") {
                guard position < bytes.count else { break }
                byte = bytes[position]
                position += 1
            }
            text.append(byte)
        }
        throw Malformed()
    }

    private mutating func token() -> [UInt8] {
        let start = position
        while position < bytes.count, ASCII.isToken(bytes[position]) { position += 1 }
        return Array(bytes[start..<position])
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while position < bytes.count, ASCII.isBlank(bytes[position]) { position += 1 }
    }
}
