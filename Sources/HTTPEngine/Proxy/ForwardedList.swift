/// Reads one line of RFC 7239's `Forwarded`: elements with commas between them, each of
/// `name=value` pairs with semicolons between them, values as tokens or quoted strings.
///
/// It is parsed from its end, because proxies append and anybody can write the beginning. So a
/// client cannot hide the elements after it with an open quote.
struct ForwardedList {
    private struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    /// - Returns: the `for` of each element in order, unquoted; `nil` for an element that has none
    ///   or is malformed.
    static func nodes(_ line: ArraySlice<UInt8>) -> [[UInt8]?] {
        elements(of: line).map { text in
            var element = ForwardedList(bytes: Array(text))
            // A malformed element names no address, like one without `for`.
            return try? element.node()
        }
    }

    private static func elements(of line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var elements: [ArraySlice<UInt8>] = []
        var rest = line
        var position = line.endIndex
        while position > line.startIndex {
            position -= 1
            if line[position] == UInt8(ascii: "\"") {
                // Without an opening quote, the rest is one malformed element.
                position = openingQuote(of: line[..<position]) ?? line.startIndex
            } else if line[position] == UInt8(ascii: ",") {
                elements.append(rest[(position + 1)...])
                rest = line[..<position]
            }
        }
        return [rest] + elements.reversed()
    }

    /// - Parameter text: ends before the closing quote.
    private static func openingQuote(of text: ArraySlice<UInt8>) -> Int? {
        let backslash = UInt8(ascii: "\\")
        var rest = text
        while let quote = rest.lastIndex(of: UInt8(ascii: "\"")) {
            rest = text[..<quote]
            let escapes = rest.reversed().prefix { $0 == backslash }.count
            if escapes.isMultiple(of: 2) { return quote }
        }
        return nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func node() throws(Malformed) -> [UInt8]? {
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
        guard position == bytes.count else { throw Malformed() }
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
