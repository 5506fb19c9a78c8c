/// An email address that is not a mailbox here: any dot-atom local part (RFC 5321 §4.1.2), at most
/// 64 octets, at a domain of LDH labels with at least one dot; ASCII, trimmed and lower-cased.
public struct Email: Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public let domain: Domain

    public init?(parsing raw: String) {
        guard let normal = Normal(raw) else { return nil }
        let halves = normal.text.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count == 2, Self.isDotAtom(halves[0]), let domain = Domain(normal: halves[1]),
            domain.text.utf8.contains(UInt8(ascii: "."))
        else { return nil }
        self.domain = domain
        text = normal.text
    }

    public var description: String { text }

    private static func isDotAtom(_ text: Substring) -> Bool {
        guard (1...LocalPart.maximumOctets).contains(text.utf8.count) else { return false }
        var previous = UInt8(ascii: ".")
        for byte in text.utf8 {
            guard isAtomText(byte) || (byte == UInt8(ascii: ".") && previous != byte) else {
                return false
            }
            previous = byte
        }
        return previous != UInt8(ascii: ".")
    }

    /// RFC 5322 §3.2.3, lower case.
    private static func isAtomText(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
    }
}
