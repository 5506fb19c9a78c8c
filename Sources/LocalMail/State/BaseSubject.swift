/// The subject without what replies and forwards put around it (RFC 5256 §2.1).
enum BaseSubject {
    /// For sorting.
    static func text(_ subject: String) -> String {
        var bytes = collapsed(subject.utf8)[...]
        while true {
            let before = bytes.count
            while endsWith("(fwd)", bytes) { bytes = trimmed(bytes.dropLast(5)) }
            removeLeaders(&bytes)
            if startsWith("[fwd:", bytes), bytes.last == UInt8(ascii: "]") {
                bytes = trimmed(bytes.dropFirst(5).dropLast())
            }
            if bytes.count == before { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// For comparing threads: without white space (RFC 8621 §3), and in lower case.
    static func compared(_ subject: String) -> String {
        String(decoding: text(subject).lowercased().utf8.filter { $0 != 0x20 }, as: UTF8.self)
    }

    /// `subj-leader`: blobs in brackets followed by `re:`, `fw:` or `fwd:`; and blobs, as long as
    /// something is left.
    private static func removeLeaders(_ bytes: inout ArraySlice<UInt8>) {
        while true {
            var rest = bytes
            while let after = afterBlob(rest) { rest = after }
            if let after = afterPrefix(rest) {
                bytes = after
            } else if let after = afterBlob(bytes), !after.isEmpty {
                bytes = after
            } else {
                return
            }
        }
    }

    /// `re`, `fw` or `fwd`, a blob or none, and a colon.
    private static func afterPrefix(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for word in ["fwd", "fw", "re"] as [StaticString] where startsWith(word, bytes) {
            var rest = trimmed(bytes.dropFirst(word.utf8CodeUnitCount))
            if let after = afterBlob(rest) { rest = after }
            if rest.first == UInt8(ascii: ":") { return trimmed(rest.dropFirst()) }
        }
        return nil
    }

    private static func afterBlob(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.first == UInt8(ascii: "["),
            let end = bytes.firstIndex(of: UInt8(ascii: "]")),
            !bytes[(bytes.startIndex + 1)..<end].contains(UInt8(ascii: "["))
        else { return nil }
        return trimmed(bytes[(end + 1)...])
    }

    private static func collapsed(_ bytes: String.UTF8View) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
            if isSpace {
                if result.last != 0x20, !result.isEmpty { result.append(0x20) }
            } else {
                result.append(byte)
            }
        }
        if result.last == 0x20 { result.removeLast() }
        return result
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while bytes.first == 0x20 { bytes.removeFirst() }
        while bytes.last == 0x20 { bytes.removeLast() }
        return bytes
    }

    private static func startsWith(_ word: StaticString, _ bytes: ArraySlice<UInt8>) -> Bool {
        word.withUTF8Buffer { word in bytes.starts(with: word) { lowered($0) == $1 } }
    }

    private static func endsWith(_ word: StaticString, _ bytes: ArraySlice<UInt8>) -> Bool {
        word.withUTF8Buffer { word in
            bytes.suffix(word.count).elementsEqual(word) { lowered($0) == $1 }
        }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
