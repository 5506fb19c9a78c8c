internal import Cryptography

/// A link that was sent to a user's email, or printed for the operator. It can be used once.
public struct EmailLink: Equatable, Sendable {
    public enum Purpose: String, CaseIterable, Sendable {
        /// Shows that the user receives mail at the email.
        case emailVerification = "email_verification"
        /// Sets a new password. It was sent to the email, so it also verifies the email.
        case passwordReset = "password_reset"
        /// Sets a new password. The operator has printed it.
        case operatorReset = "operator_reset"

        public var resetsPassword: Bool { self != .emailVerification }

        public var lifetime: Duration {
            resetsPassword ? .seconds(1_800) : .seconds(86_400)
        }

        /// The page that the link opens.
        var path: String { resetsPassword ? "/reset-password" : "/verify-email" }
    }

    /// Of the ``EmailLinkToken``.
    public let digest: APIKeyDigest
    public let owner: UserID
    public let purpose: Purpose
    public let expiry: Instant

    public init(digest: APIKeyDigest, owner: UserID, purpose: Purpose, expiry: Instant) {
        self.digest = digest
        self.owner = owner
        self.purpose = purpose
        self.expiry = expiry
    }
}

/// The secret part of an ``EmailLink``: 256 random bits, of which the SHA-256 is stored.
public struct EmailLinkToken: Sendable, CustomStringConvertible, CustomReflectable {
    static let randomBytes = 32

    /// 43 characters of base64url.
    let secret: String

    /// - Parameter random: exactly ``randomBytes`` random bytes.
    init(random: [UInt8]) {
        precondition(random.count == Self.randomBytes)
        secret = Base64URL.encode(random)
    }

    /// - Returns: `nil` for a text that cannot be a token.
    public init?(_ text: String) {
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text.utf8) else { return nil }
        self.init(random: bytes)
    }

    var digest: APIKeyDigest { APIKeyDigest(of: secret) }

    /// The link. The token is its fragment, which browsers neither send nor pass on as `Referer`.
    /// - Parameter publicURL: the URL that clients use for this server, without a slash at its end.
    public func url(for purpose: EmailLink.Purpose, on publicURL: String) -> String {
        "\(publicURL)\(purpose.path)#\(secret)"
    }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
