internal import Cryptography

/// An agent's API key: `pst_` and 256 random bits in base64url. Shown once, when it is created;
/// only its ``APIKeyDigest`` is stored.
public struct APIKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// Secret scanners recognise a leaked key by this prefix.
    public static let prefix = "pst_"
    public static let maximumBytes = 256

    /// The secret itself. Appears in the response that issues it and nowhere else.
    public let secret: String

    /// - Parameter random: exactly 32 random bytes.
    init(random: [UInt8]) {
        precondition(random.count == 32)
        secret = Self.prefix + Base64URL.encode(random)
    }

    /// A key as a client presents it. Whether it belongs to an account is looked up by its digest.
    /// - Returns: `nil` when it is empty or longer than any key.
    public init?(presented: String) {
        guard (1...Self.maximumBytes).contains(presented.utf8.count) else { return nil }
        secret = presented
    }

    public var digest: APIKeyDigest { APIKeyDigest(of: secret) }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
