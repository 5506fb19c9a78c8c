/// Bytes of ASCII, for parsers that work on bytes.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20

    static func isWhite(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    static func isBlank(_ byte: UInt8) -> Bool {
        isWhite(byte) || byte == carriageReturn || byte == lineFeed
    }

    static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    static func lowered(_ text: String) -> String {
        String(decoding: text.utf8.map(lowered), as: UTF8.self)
    }

    static func equal(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Bool {
        one.elementsEqual(other) { lowered($0) == lowered($1) }
    }

    /// Whether the text has `prefix` in either case of letters.
    static func begins(_ text: some Sequence<UInt8>, with prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { prefix in
            text.starts(with: prefix) { lowered($0) == lowered($1) }
        }
    }

    static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start.startIndex
        return start[..<end]
    }

    /// A byte of a token of RFC 2045 §5.1.
    static func isWordByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"()<>@,;:\\\"/[]?=".utf8.contains(byte)
    }

    /// The text without control characters, tabs excepted.
    static func withoutControls(_ text: String) -> String {
        let isClean = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == tab }
        if isClean { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter {
                    $0.properties.generalCategory != .control || $0 == "\t"
                }))
    }
}
