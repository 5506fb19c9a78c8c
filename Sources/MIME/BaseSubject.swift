/// The subject of a conversation (RFC 5256 §2.1).
public enum BaseSubject {
    /// - Parameter subject: decoded.
    /// - Returns: without the marks of replies and forwarded messages. ASCII letters are not
    ///   brought to one case.
    public static func of(_ subject: String) -> String {
        let words = subject.utf8.split(whereSeparator: ASCII.isBlank)
        var text = Array(words.joined(separator: [ASCII.space]))[...]
        while true {
            text = withoutTrailer(text)
            text = withoutLeaders(text)
            // "[fwd: …]" around the rest.
            guard ASCII.begins(text, with: "[fwd:"), text.last == UInt8(ascii: "]") else { break }
            text = ASCII.trimmed(text.dropFirst(5).dropLast())
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func withoutTrailer(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = ASCII.trimmed(text)
        while ASCII.begins(text.suffix(5), with: "(fwd)") {
            text = ASCII.trimmed(text.dropLast(5))
        }
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
        let word = rest.prefix { ASCII.lowered($0) &- 0x61 < 26 }
        guard ["re", "fw", "fwd"].contains(where: { ASCII.equal(word, $0.utf8) }) else {
            return nil
        }
        rest = rest[word.endIndex...].drop(while: ASCII.isBlank)
        rest = afterBlob(rest) ?? rest
        guard rest.first == UInt8(ascii: ":") else { return nil }
        return rest.dropFirst().drop(while: ASCII.isBlank)
    }

    /// After `[…]` without brackets in it.
    private static func afterBlob(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard text.first == UInt8(ascii: "[") else { return nil }
        let inner = text.dropFirst().prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
        guard inner.endIndex < text.endIndex, text[inner.endIndex] == UInt8(ascii: "]") else {
            return nil
        }
        return text[(inner.endIndex + 1)...].drop(while: ASCII.isBlank)
    }
}
