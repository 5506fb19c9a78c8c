/// The links of HTML: not a parser of HTML, as ``HTMLText``.
public enum HTMLLinks {
    /// The values of `href` of `a` and `area`, in order, with references to characters decoded.
    public static func all(in html: String) -> [String] {
        var reader = LinkReader(bytes: Array(html.utf8))
        return reader.read()
    }
}

private struct LinkReader {
    let bytes: [UInt8]
    private var position = 0
    private var links: [String] = []

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func read() -> [String] {
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = start + 1
            if bytes[position...].starts(with: "!--".utf8) {
                skipComment()
                continue
            }
            let name = take { !Self.endsName($0) && $0 != UInt8(ascii: "<") }
            guard let first = name.first, ASCII.lowered(first) &- 0x61 < 26 else { continue }
            let isLink = ASCII.equal(name, "a".utf8) || ASCII.equal(name, "area".utf8)
            readAttributes(isLink: isLink)
        }
        return links
    }

    private mutating func skipComment() {
        position += 3
        while position < bytes.count, !bytes[position...].starts(with: "-->".utf8) { position += 1 }
    }

    /// Reads to the end of a tag. Of several attributes of a name the first counts.
    private mutating func readAttributes(isLink: Bool) {
        var link: ArraySlice<UInt8>?
        while true {
            _ = take { Self.isSpace($0) || $0 == UInt8(ascii: "/") }
            guard position < bytes.count, bytes[position] != UInt8(ascii: ">") else { break }
            let name = take { !Self.endsName($0) && $0 != UInt8(ascii: "=") }
            _ = take(Self.isSpace)
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { continue }
            position += 1
            _ = take(Self.isSpace)
            let value = readValue()
            if isLink, link == nil, ASCII.equal(name, "href".utf8) { link = value }
        }
        guard let link else { return }
        let text = HTMLText.attribute(String(decoding: ASCII.trimmed(link), as: UTF8.self))
        links.append(text)
    }

    private mutating func readValue() -> ArraySlice<UInt8> {
        guard position < bytes.count else { return [] }
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return take { !Self.isSpace($0) && $0 != UInt8(ascii: ">") }
        }
        position += 1
        let value = take { $0 != quote }
        position = min(position + 1, bytes.count)
        return value
    }

    private mutating func take(_ isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = bytes[position...].prefix(while: isTaken)
        position = taken.endIndex
        return taken
    }

    private static func isSpace(_ byte: UInt8) -> Bool { ASCII.isBlank(byte) || byte == 0x0C }

    private static func endsName(_ byte: UInt8) -> Bool {
        isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
    }
}
