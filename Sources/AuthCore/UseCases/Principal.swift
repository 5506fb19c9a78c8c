internal import Cryptography

/// The account or user that a verified token of the accounts API gives access to, read after the
/// token was verified.
public enum Principal: Sendable {
    /// An Email JWT gives access to one account.
    case account(Account)
    /// A Pro JWT or an API token gives access to everything that a user owns.
    case user(User)

    var actor: AuditEvent.Actor {
        switch self {
        case .account(let account): .account(account.id)
        case .user(let user): .user(user.id)
        }
    }
}

/// A token that its holder can end: its `jti`, and when it expires.
public struct IssuedToken: Equatable, Sendable {
    let id: String
    let expiry: Instant
}

/// What a verified token of the accounts API allows.
public struct Grant: Sendable {
    public let principal: Principal
    /// The token, if its holder can end it.
    public let session: IssuedToken?
    /// The session of a Pro JWT.
    public let userSession: UserSession?
    /// The API token, if the token is one. It may not have all scopes.
    public let apiToken: APIToken?

    init(
        principal: Principal, session: IssuedToken? = nil, userSession: UserSession? = nil,
        apiToken: APIToken? = nil
    ) {
        self.principal = principal
        self.session = session
        self.userSession = userSession
        self.apiToken = apiToken
    }

    /// The principal, for something that needs `scope`.
    /// - Throws: ``AccountsError/forbidden`` for a token without the scope.
    public func principal(for scope: APIToken.Scope) throws(AccountsError) -> Principal {
        guard apiToken?.scopes.contains(scope) ?? true else { throw .forbidden }
        return principal
    }
}

/// Verifies the tokens of the accounts API.
public struct Authenticator: UseCases {
    public typealias Failure = AccountsError

    /// The use of a token or session is written at most once in this time.
    private static let noteInterval: Duration = .seconds(60)

    private let tokens: TokenAuthority
    private let emailTokens: EmailTokens
    private let sessions: any UserSessionStore
    private let apiTokens: any APITokenStore

    public init(tokens: TokenAuthority, stores: Stores) {
        self.tokens = tokens
        emailTokens = EmailTokens(tokens: tokens, accounts: stores.accounts)
        sessions = stores.userSessions
        apiTokens = stores.apiTokens
    }

    /// Verifies a token and reads its account or user.
    /// - Returns: `nil` when there is no token.
    /// - Throws: ``AccountsError/invalidToken``.
    public func grant(of token: String?, at now: Instant) async throws(AccountsError) -> Grant? {
        guard let token else { return nil }
        if token.utf8.starts(with: APIToken.prefix.utf8) {
            return try await grant(ofAPIToken: token, at: now)
        }
        if let email = try await attempt(await emailTokens.read(token, at: now)) {
            return Grant(
                principal: .account(email.account),
                session: IssuedToken(id: email.id, expiry: email.expiry))
        }
        if let (pro, _) = try await attempt(await tokens.verify(token, as: ProToken.self, at: now))
        {
            return try await grant(of: pro, at: now)
        }
        throw .invalidToken
    }

    private func grant(of pro: ProToken, at now: Instant) async throws(AccountsError) -> Grant {
        guard let (session, user) = try await attempt(await sessions.holder(of: pro.id)),
            user.id == pro.userID, user.state == .active,
            user.credentialVersion == pro.credentialVersion
        else { throw .invalidToken }
        let aMinuteAgo = now.advanced(by: .zero - Self.noteInterval)
        if session.lastUsed < aMinuteAgo {
            try await attempt(
                await sessions.noteUse(of: session.id, at: now, unlessSince: aMinuteAgo))
        }
        return Grant(principal: .user(user), userSession: session)
    }

    private func grant(
        ofAPIToken secret: String, at now: Instant
    ) async throws(AccountsError) -> Grant {
        guard secret.utf8.count <= APIToken.maximumSecretBytes,
            let (token, user) = try await attempt(
                await apiTokens.holder(digest: APIKeyDigest(of: secret))),
            token.revoked == nil, token.expiry.map({ now < $0 }) ?? true, user.state == .active
        else { throw .invalidToken }
        let aMinuteAgo = now.advanced(by: .zero - Self.noteInterval)
        if token.lastUsed.map({ $0 < aMinuteAgo }) ?? true {
            try await attempt(
                await apiTokens.noteUse(of: token.id, at: now, unlessSince: aMinuteAgo))
        }
        return Grant(principal: .user(user), apiToken: token)
    }
}
