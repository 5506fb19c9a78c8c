internal import AuthCore

extension Credential {
    /// What the credential is looked up by, if it is.
    var digest: APIKeyDigest? {
        switch self {
        case .apiKey(let digest): digest
        case .password: nil
        }
    }

    var passwordHash: PasswordHash? {
        switch self {
        case .apiKey: nil
        case .password(let hash): hash
        }
    }
}

extension APIToken {
    /// When it ended, if that is not after `now`.
    func end(at now: Instant) -> Instant? {
        revoked ?? expiry.flatMap { $0 <= now ? $0 : nil }
    }

    /// How many of an owner's tokens that have ended are kept, and of the revoked ones listed.
    static let endedKept = 100
}
