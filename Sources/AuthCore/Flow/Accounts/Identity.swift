internal import Cryptography

/// Whose token a request carries.
public enum Identity: Sendable {
    /// There is no token.
    case nobody
    /// There is one, and it opens nothing.
    case invalid
    /// An Email JWT, with the account as it is now.
    case account(Account)
    /// A Pro JWT or a Pro API token, with the user as it is now.
    case user(User)

    /// The class of requests that this one is counted with.
    public var rateClass: RateLimiter.Class {
        switch self {
        case .nobody, .invalid, .account: .general
        case .user: .pro
        }
    }
}

extension AccountsAuth {
    /// Pro API tokens begin so; nothing else does.
    static let apiTokenPrefix = "tm_pro_"

    /// Looks at the token of a request: its signature, its time and what it stands for now.
    public func identify(_ token: String?, at now: Instant) async throws -> Identity {
        guard let token else { return .nobody }
        if token.hasPrefix(Self.apiTokenPrefix) {
            return try await identify(apiToken: token, at: now)
        }
        if let (email, _) = try await tokens.verify(token, as: EmailToken.self, at: now) {
            let account = try await stores.accounts.account(id: email.accountID)
            guard let account, account.state == .active,
                account.credentialVersion == email.credentialVersion
            else { return .invalid }
            return .account(account)
        }
        if let (pro, _) = try await tokens.verify(token, as: ProToken.self, at: now) {
            let user = try await stores.users.user(id: pro.userID)
            guard let user, user.state == .active, user.credentialVersion == pro.credentialVersion
            else { return .invalid }
            return .user(user)
        }
        return .invalid
    }

    private func identify(apiToken secret: String, at now: Instant) async throws -> Identity {
        guard secret.utf8.count <= APIKey.maximumOctets,
            let (token, user) = try await stores.tokens.holder(
                digest: APIKeyDigest(bytes: SHA256.digest(Array(secret.utf8)))),
            token.revoked == nil, token.expiry.map({ now < $0 }) ?? true, user.state == .active
        else { return .invalid }
        let aMinuteAgo = now.advanced(by: .seconds(-60))
        if token.lastUsed.map({ $0 < aMinuteAgo }) ?? true {
            try await stores.tokens.noteUse(of: token.id, at: now, unlessSince: aMinuteAgo)
        }
        return .user(user)
    }
}

extension Identity {
    /// - Throws: ``Refusal/missingToken``, ``Refusal/invalidToken``.
    func verified() throws(Refusal) -> Identity {
        switch self {
        case .nobody: throw .missingToken
        case .invalid: throw .invalidToken
        case .account, .user: self
        }
    }

    /// - Throws: as ``verified()``, and ``Refusal/forbidden`` for an Email JWT.
    public func user() throws(Refusal) -> User {
        switch try verified() {
        case .user(let user): return user
        default: throw .forbidden
        }
    }

    /// As the record of events has it.
    var actor: String {
        switch self {
        case .nobody, .invalid: "anonymous"
        case .account(let account): "account:\(account.id)"
        case .user(let user): "user:\(user.id)"
        }
    }
}
