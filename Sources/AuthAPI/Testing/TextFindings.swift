/// The links and codes of a message: what a person would click on or type.
struct TextFindings {
    /// `http` and `https` only.
    private(set) var links: [String] = []
    /// Numbers of six digits that stand alone.
    private(set) var codes: [String] = []
    private var known: Set<String> = []

    /// Finds what is in a plain text.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        var rest: [UInt8] = []
        var position = 0
        while position < bytes.count {
            guard Self.beginsLink(bytes, at: position) else {
                rest.append(bytes[position])
                position += 1
                continue
            }
            let link = Self.link(bytes[position...])
            add(link: String(decoding: link, as: UTF8.self))
            // A code in a link does not stand alone.
            rest.append(UInt8(ascii: "/"))
            position = link.endIndex
        }
        findCodes(rest)
    }

    /// Adds what is in an HTML text.
    /// - Parameters:
    ///   - links: those of the HTML, of whichever scheme.
    ///   - text: without the markup.
    mutating func add(links: [String], codesOf text: String) {
        for link in links {
            let bytes = Array(link.utf8)
            if Self.beginsLink(bytes, at: 0) { add(link: link) }
        }
        for code in TextFindings(text).codes { add(code: code) }
    }

    private mutating func add(link: String) {
        if known.insert(link).inserted { links.append(link) }
    }

    private mutating func add(code: String) {
        if known.insert(code).inserted { codes.append(code) }
    }

    // MARK: Links

    /// Whether a scheme, and the first character of a host, begin here.
    private static func beginsLink(_ bytes: [UInt8], at start: Int) -> Bool {
        guard bytes[start...].first.map({ $0 | 0x20 }) == UInt8(ascii: "h"),
            start == 0 || !isWord(bytes[start - 1])
        else { return false }
        for scheme in ["http://", "https://"] as [StaticString] {
            let end = start + scheme.utf8CodeUnitCount
            guard end < bytes.count else { continue }
            let isScheme = scheme.withUTF8Buffer { scheme in
                bytes[start..<end].elementsEqual(scheme) { $0 | 0x20 == $1 | 0x20 }
            }
            if isScheme, isWord(bytes[end]) || bytes[end] == UInt8(ascii: "[") { return true }
        }
        return false
    }

    /// The longest beginning that is a URL (RFC 3986 §2) as a writer means it: punctuation at its
    /// end belongs to the sentence, and a closing bracket to an opening one before the URL.
    private static func link(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let all = bytes.prefix { byte in
            (0x21...0x7E).contains(byte) && !"<>\"`\\^{}|".utf8.contains(byte)
        }
        var round = balance(all, "(", ")")
        var square = balance(all, "[", "]")
        var end = all.endIndex
        while end > all.startIndex {
            switch all[end - 1] {
            case UInt8(ascii: ")") where round < 0: round += 1
            case UInt8(ascii: "]") where square < 0: square += 1
            case let byte where ".,;:!?'*_~".utf8.contains(byte): break
            default: return all[..<end]
            }
            end -= 1
        }
        return all[..<end]
    }

    /// How many more brackets are opened than closed.
    private static func balance(
        _ bytes: ArraySlice<UInt8>, _ open: Unicode.Scalar, _ close: Unicode.Scalar
    ) -> Int {
        bytes.reduce(0) {
            $1 == UInt8(ascii: open) ? $0 + 1 : $1 == UInt8(ascii: close) ? $0 - 1 : $0
        }
    }

    // MARK: Codes

    private mutating func findCodes(_ bytes: [UInt8]) {
        var position = 0
        while position < bytes.count {
            let digits = bytes[position...].prefix(while: Self.isDigit)
            guard !digits.isEmpty else {
                position += 1
                continue
            }
            position = digits.endIndex
            if digits.count == 6, Self.standsAlone(digits.indices, in: bytes) {
                add(code: String(decoding: digits, as: UTF8.self))
            }
        }
    }

    /// Whether the number is no part of a word, another number, an amount, a date or a color. A
    /// period or a hyphen between digits joins them.
    private static func standsAlone(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
        func byte(_ index: Int) -> UInt8? { bytes.indices.contains(index) ? bytes[index] : nil }
        func isJoined(_ near: Int, _ far: Int) -> Bool {
            guard let next = byte(near) else { return false }
            if isWord(next) || "_/%".utf8.contains(next) { return true }
            return ".,-:".utf8.contains(next) && byte(far).map(isDigit) == true
        }
        let (before, after) = (range.lowerBound - 1, range.upperBound)
        if let sign = byte(before), "#$".utf8.contains(sign) { return false }
        return !isJoined(before, before - 1) && !isJoined(after, after + 1)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) &- 0x61 < 26
    }
}
