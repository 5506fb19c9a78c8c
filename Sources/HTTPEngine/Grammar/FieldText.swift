/// A header field's value, or a part of it, as the bytes that were sent.
///
/// Parsers of field values read these bytes and not the Characters of a String: a Character may
/// consist of a delimiter and of bytes beside it (U+0600 and `,`), and Characters are equal when
/// they are canonically equivalent (U+037E and `;`). So a client could make a delimiter disappear
/// that a proxy has written.
public struct FieldText: Sendable {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    public var isEmpty: Bool { bytes.isEmpty }

    /// The text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The bytes with their percent escapes decoded (RFC 3986 §2.1).
    public var percentDecoded: [UInt8] {
        PercentCoding.decode(Array(bytes), in: 0..<bytes.count, plusIsSpace: false)
    }

    /// The text with ASCII letters in lower case, for comparing it with names. Other bytes become
    /// U+FFFD: to compare many combining marks takes quadratic time.
    public var lowercased: String { ASCII.name(bytes.map(ASCII.lowered)) }

    /// Without SP and HTAB at both ends.
    public var trimmed: FieldText { FieldText(bytes.trimmingBlanks) }

    /// The parts between the separators, at least one; empty ones are kept.
    /// - Parameter separator: one ASCII character.
    public func parts(separatedBy separator: Unicode.Scalar) -> [FieldText] {
        bytes.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
            .map(FieldText.init)
    }

    /// The text after `prefix`; `nil` if the text does not begin with its bytes.
    public func dropping(prefix: String) -> FieldText? {
        bytes.starts(with: prefix.utf8) ? FieldText(bytes.dropFirst(prefix.utf8.count)) : nil
    }

    /// Whether the bytes are those of `name`.
    public func equals(_ name: String) -> Bool { bytes.elementsEqual(name.utf8) }

    /// Whether the bytes are those of `name`, in either case of ASCII letters.
    public func equalsIgnoringCase(_ name: String) -> Bool {
        ASCII.equalIgnoringCase(bytes, name)
    }
}

extension ArraySlice<UInt8> {
    /// Without SP and HTAB at both ends.
    var trimmingBlanks: ArraySlice<UInt8> {
        var rest = drop(while: ASCII.isBlank)
        while let last = rest.last, ASCII.isBlank(last) { rest.removeLast() }
        return rest
    }
}
