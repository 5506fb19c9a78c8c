internal import Cryptography

/// An agent's API key: `pst_` and 256 random bits in base64url. Shown once, when it is made; only
/// its ``APIKeyDigest`` is stored.
public struct APIKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// Lets secret scanners recognise a key that leaked.
    public static let prefix = "pst_"
    public static let maximumOctets = 256

    /// The secret itself. Goes into the one answer that hands it out and nowhere else.
    public let secret: String

    /// - Parameter random: exactly 32 random bytes.
    init(random: [UInt8]) {
        precondition(random.count == 32)
        secret = Self.prefix + Base64URL.encode(random)
    }

    /// Takes what a client presents; whether it opens anything is found by its digest.
    /// - Returns: `nil` when it is empty or longer than any key.
    public init?(presented: String) {
        guard (1...Self.maximumOctets).contains(presented.utf8.count) else { return nil }
        secret = presented
    }

    public var digest: APIKeyDigest { APIKeyDigest(bytes: SHA256.digest(Array(secret.utf8))) }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
