/// The subject without what replies and forwards put around it (RFC 5256 §2.1).
///
/// Each step removes something and looks at it once, so that a subject of brackets and marks takes
/// linear time.
enum BaseSubject {
    /// For sorting.
    /// - Parameter subject: decoded.
    static func text(_ subject: String) -> String {
        let words = subject.utf8.split(whereSeparator: isBlank)
        var text = Array(words.joined(separator: [0x20]))[...]
        while true {
            text = withoutTrailer(text)
            text = withoutLeaders(text)
            // "[fwd: …]" around the rest.
            guard begins(text, with: "[fwd:"), text.last == UInt8(ascii: "]") else { break }
            text = trimmed(text.dropFirst(5).dropLast())
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// For comparing threads: without white space (RFC 8621 §3), and in lower case.
    static func compared(_ subject: String) -> String {
        String(decoding: text(subject).lowercased().utf8.filter { $0 != 0x20 }, as: UTF8.self)
    }

    private static func withoutTrailer(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = trimmed(text)
        while begins(text.suffix(5), with: "(fwd)") { text = trimmed(text.dropLast(5)) }
        return text
    }

    private static func withoutLeaders(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let rest = afterMark(text) { text = rest }
        // What follows all blobs is no mark, so none appears when they are removed.
        while let rest = afterBlob(text), !rest.isEmpty { text = rest }
        return text
    }

    /// After `Re:`, `Fw:`, `Fwd[5]:`, also with blobs before it.
    private static func afterMark(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = text
        while let next = afterBlob(rest) { rest = next }
        let word = rest.prefix { lowered($0) &- 0x61 < 26 }
        let marks = ["re", "fw", "fwd"]
        guard marks.contains(where: { word.elementsEqual($0.utf8) { lowered($0) == $1 } }) else {
            return nil
        }
        rest = rest[word.endIndex...].drop(while: isBlank)
        rest = afterBlob(rest) ?? rest
        guard rest.first == UInt8(ascii: ":") else { return nil }
        return rest.dropFirst().drop(while: isBlank)
    }

    /// After `[…]` without brackets in it.
    private static func afterBlob(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard text.first == UInt8(ascii: "[") else { return nil }
        let inner = text.dropFirst().prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
        guard inner.endIndex < text.endIndex, text[inner.endIndex] == UInt8(ascii: "]") else {
            return nil
        }
        return text[(inner.endIndex + 1)...].drop(while: isBlank)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start.startIndex
        return start[..<end]
    }

    private static func begins(_ text: ArraySlice<UInt8>, with word: StaticString) -> Bool {
        word.withUTF8Buffer { word in text.starts(with: word) { lowered($0) == $1 } }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
