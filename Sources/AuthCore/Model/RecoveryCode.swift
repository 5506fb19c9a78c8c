internal import Cryptography

/// A code that stands in for a one-time code once, for a user who has lost the phone.
///
/// It has 120 random bits, so that its SHA-256 may be stored (ASVS 5.0, 6.5.2). Shown once, when it
/// is made.
public struct RecoveryCode: Sendable, CustomStringConvertible, CustomReflectable {
    /// How many a user gets at once.
    public static let count = 10
    static let randomBytes = 15
    private static let groupLength = 6

    /// 24 digits of base32 in lower case, in four groups with a hyphen between them. Appears in
    /// the response that issues it and nowhere else.
    public let secret: String

    /// - Parameter random: exactly ``randomBytes`` random bytes.
    init(random: [UInt8]) {
        precondition(random.count == Self.randomBytes)
        let digits = Array(Base32.encode(random).lowercased().utf8)
        secret = stride(from: 0, to: digits.count, by: Self.groupLength).map { start in
            String(decoding: digits[start..<(start + Self.groupLength)], as: UTF8.self)
        }.joined(separator: "-")
    }

    var digest: APIKeyDigest { APIKeyDigest(of: secret) }

    /// The digest of a code as a user types it: in either case, with or without hyphens and spaces.
    /// - Returns: `nil` for a text that cannot be a code.
    static func digest(ofTyped text: String) -> APIKeyDigest? {
        guard text.utf8.count <= 64 else { return nil }
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        let upper = String(decoding: digits, as: UTF8.self).uppercased()
        guard let bytes = Base32.decode(upper.utf8), bytes.count == randomBytes else { return nil }
        return RecoveryCode(random: bytes).digest
    }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
