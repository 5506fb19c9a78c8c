/// The words and phrases of a search, all of which must be in a text (RFC 8621 §4.4.1).
///
/// Text between quotation marks is a phrase; elsewhere white space divides words. The case of
/// letters is ignored, and a word may be a part of a longer one.
public struct SearchTerms: Hashable, Sendable {
    /// In lower case.
    public let terms: [String]
    private let needles: [[UInt8]]

    public init(_ text: String) {
        terms = Self.split(Array(text.lowercased().utf8)).map {
            String(decoding: $0, as: UTF8.self)
        }
        needles = terms.map { Array($0.utf8) }
    }

    public func match(_ text: String) -> Bool {
        match([text])
    }

    /// Whether each term is in one of the texts.
    public func match(_ texts: [String]) -> Bool { match(lowered: Self.lowered(texts)) }

    /// - Parameter texts: as ``lowered(_:)`` gives them.
    func match(lowered texts: [[UInt8]]) -> Bool {
        needles.allSatisfy { needle in texts.contains { Self.contains($0, needle) } }
    }

    /// The texts in lower case. That takes longer than a search, so it is done once for all terms.
    static func lowered(_ texts: [String]) -> [[UInt8]] {
        texts.map { Array($0.lowercased().utf8) }
    }

    private static func split(_ text: [UInt8]) -> [[UInt8]] {
        var terms: [[UInt8]] = []
        var term: [UInt8] = []
        var quote: UInt8?
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            if let mark = quote {
                if byte == UInt8(ascii: "\\"), index < text.count {
                    term.append(text[index])
                    index += 1
                } else if byte == mark {
                    quote = nil
                    terms.append(term)
                    term = []
                } else {
                    term.append(byte)
                }
                continue
            }
            // A mark within a word is an apostrophe; one without a partner is text.
            let isMark = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
            if isMark, term.isEmpty, text[index...].contains(byte) {
                quote = byte
            } else if byte == 0x20 || (0x09...0x0D).contains(byte) {
                terms.append(term)
                term = []
            } else {
                term.append(byte)
            }
        }
        terms.append(term)
        return terms.filter { !$0.isEmpty }
    }

    private static func contains(_ text: [UInt8], _ needle: [UInt8]) -> Bool {
        guard let first = needle.first, text.count >= needle.count else { return needle.isEmpty }
        return text.withUnsafeBufferPointer { text in
            for start in 0...(text.count - needle.count) where text[start] == first {
                var length = 1
                while length < needle.count, text[start + length] == needle[length] { length += 1 }
                if length == needle.count { return true }
            }
            return false
        }
    }
}
