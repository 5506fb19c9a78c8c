/// A secret that is stored encrypted under the master secret, by what it belongs to.
public enum SealedSecret: Hashable, Sendable {
    /// With which the events of a webhook are signed.
    case webhook(WebhookID)
    /// From which a user's one-time codes are computed.
    case totp(UserID)

    private static let webhookPrefix = "webhook/"
    private static let totpPrefix = "totp/"

    /// Authenticated with the secret, so that a row of the database cannot replace another.
    /// Engines name the secret by it, too. No use of a key has such a name.
    public var name: String {
        switch self {
        case .webhook(let id): Self.webhookPrefix + id.text
        case .totp(let owner): Self.totpPrefix + owner.text
        }
    }

    /// - Returns: `nil` for a text that ``name`` does not give.
    public init?(_ name: String) {
        func rest(after prefix: String) -> String? {
            name.utf8.starts(with: prefix.utf8)
                ? String(Substring(name.utf8.dropFirst(prefix.utf8.count))) : nil
        }
        if let id = rest(after: Self.webhookPrefix).flatMap(WebhookID.init) {
            self = .webhook(id)
        } else if let owner = rest(after: Self.totpPrefix).flatMap(UserID.init) {
            self = .totp(owner)
        } else {
            return nil
        }
    }
}
