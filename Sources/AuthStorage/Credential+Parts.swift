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
    /// How many of an owner's revoked tokens are listed.
    static let revokedListed = 100
}
