/// A mailbox address in the one form in which Postern compares and stores it: ASCII, lower case
/// (docs/api.md, "Addresses and names").
///
/// `init(parsing:)` normalises and checks the syntax that every address shares. ``AddressPolicy``
/// decides whether its domain is served and its name may be taken.
public struct Address: Hashable, Sendable, CustomStringConvertible {
    public let localPart: LocalPart
    public let domain: Domain

    public init(localPart: LocalPart, domain: Domain) {
        self.localPart = localPart
        self.domain = domain
    }

    /// - Returns: `nil` unless `text` is ASCII with a single `@` and both parts are valid.
    public init?(parsing text: String) {
        guard let (before, after) = Normal(text)?.halves, let local = LocalPart(normal: before),
            let domain = Domain(normal: after)
        else { return nil }
        self.init(localPart: local, domain: domain)
    }

    public var description: String { "\(localPart)@\(domain)" }
}

/// The part before the `@`: 1 to 64 of `a-z 0-9 . _ - +`, no dot first, last or doubled.
///
/// `+` is accepted here because an existing address may contain it. ``AddressPolicy`` rejects the
/// operator's sub-address delimiter in a new name.
public struct LocalPart: Hashable, Sendable, CustomStringConvertible {
    public static let maximumBytes = 64
    public let text: String

    public init?(parsing text: String) {
        guard let normal = Normal(text) else { return nil }
        self.init(normal: normal.text[...])
    }

    init?(normal text: Substring) {
        guard Normal.isDotAtom(text, of: Self.isAllowed) else { return nil }
        self.text = String(text)
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "_-+".utf8.contains(byte)
        }
    }
}

/// A domain of LDH labels (RFC 5890 §2.3.1): at most 253 bytes, each label 1 to 63, no hyphen at
/// either end. A single label is valid syntax; the configuration decides whether it is served.
public struct Domain: Hashable, Sendable, CustomStringConvertible {
    public static let maximumBytes = 253
    public let text: String

    public init?(parsing text: String) {
        guard let normal = Normal(text) else { return nil }
        self.init(normal: normal.text[...])
    }

    init?(normal text: Substring) {
        guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
        let hyphen = UInt8(ascii: "-")
        for label in text.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        {
            guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
                return nil
            }
            for byte in label {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    hyphen:
                    break
                default: return nil
                }
            }
        }
        self.text = String(text)
    }

    public var description: String { text }

    /// Whether the last label is a number, decimal or hexadecimal (`0x7f`), as in the forms of an
    /// IPv4 address that URLs allow (URL Standard, "ends in a number"). No top-level domain is
    /// numeric (RFC 3696 §2).
    var endsInNumber: Bool {
        guard let last = text.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        if last.starts(with: "0x".utf8) {
            return last.dropFirst(2).allSatisfy { digits.contains($0) || letters.contains($0) }
        }
        return last.allSatisfy(digits.contains)
    }
}

/// A text in normal form, from which addresses, names and domains are parsed: ASCII white space is
/// trimmed, and ASCII letters are lower-cased. A text with other characters than ASCII is rejected.
struct Normal {
    let text: String

    init?(_ raw: String) {
        var raw = raw
        let normal: String? = raw.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            guard let start = bytes.firstIndex(where: { !Self.isWhite($0) }),
                let end = bytes.lastIndex(where: { !Self.isWhite($0) })
            else { return "" }
            return String(unsafeUninitializedCapacity: end - start + 1) { target in
                for index in start...end {
                    let byte = bytes[index]
                    target[index - start] = Self.isUpperCase(byte) ? byte | 0x20 : byte
                }
                return end - start + 1
            }
        }
        guard let normal else { return nil }
        text = normal
    }

    private static func isWhite(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    private static func isUpperCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    /// The parts before and after the only `@`.
    var halves: (Substring, Substring)? {
        let halves = text.utf8.split(
            separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        return halves.count == 2 ? (Substring(halves[0]), Substring(halves[1])) : nil
    }

    /// Whether `text` is a valid local part (RFC 5321 §4.5.3.1.1): 1 to 64 bytes, no dot first,
    /// last or doubled, and otherwise only bytes that `isText` accepts.
    static func isDotAtom(_ text: Substring, of isText: (UInt8) -> Bool) -> Bool {
        guard (1...LocalPart.maximumBytes).contains(text.utf8.count) else { return false }
        let dot = UInt8(ascii: ".")
        var previous = dot
        for byte in text.utf8 {
            guard byte == dot ? previous != dot : isText(byte) else { return false }
            previous = byte
        }
        return previous != dot
    }
}
