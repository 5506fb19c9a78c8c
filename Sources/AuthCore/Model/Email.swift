/// An email address that need not be a mailbox here: any dot-atom local part (RFC 5321 §4.1.2), at
/// most 64 bytes, at a domain of LDH labels with at least one dot; ASCII, trimmed and lower-cased.
public struct Email: Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public let localPart: String
    public let domain: Domain

    public init?(parsing raw: String) {
        guard let normal = Normal(raw), let (before, after) = normal.halves,
            Normal.isDotAtom(before, of: Self.isAtomText), let domain = Domain(normal: after),
            domain.text.utf8.contains(UInt8(ascii: "."))
        else { return nil }
        self.domain = domain
        localPart = String(before)
        text = normal.text
    }

    public var description: String { text }

    /// The address without what follows `+` in its local part: many providers deliver both to one
    /// mailbox.
    var withoutSuffix: String {
        guard let plus = localPart.utf8.firstIndex(of: UInt8(ascii: "+")),
            plus != localPart.startIndex
        else { return text }
        return "\(localPart[..<plus])@\(domain)"
    }

    /// RFC 5322 §3.2.3, lower case.
    private static func isAtomText(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }
}
