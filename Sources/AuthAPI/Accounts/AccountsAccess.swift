internal import AuthCore
internal import HTTPEngine

/// Who may use an endpoint of the accounts API, and the principal that its handler gets.
struct AccountsAccess: Sendable {
    typealias Access<Principal: Sendable> = Authentication<Principal, AccountsError>

    /// A user, and what the request came with: a session or an API token.
    struct TokenHolder: Sendable {
        let user: User
        let session: UserSession?
        let apiToken: APIToken?
    }

    /// A user who has logged in, and the session.
    struct SessionHolder: Sendable {
        let user: User
        let session: UserSession
    }

    /// The account of an Email JWT, and the token itself.
    struct MailboxSession: Sendable {
        let account: Account
        let token: IssuedToken
    }

    let authenticator: Authenticator
    let mailboxes: Mailboxes
    let cookie: SessionCookie

    /// Every caller. An API token needs `scope`. The handler decides when an invalid token is
    /// reported.
    func anybody(_ scope: APIToken.Scope) -> Access<Result<Principal?, AccountsError>> {
        Authentication { request, caller in
            let result = await grant(of: request.presentedToken, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                result.flatMap { grant in
                    Result { () throws(AccountsError) in try grant?.principal(for: scope) }
                }
            }
        }
    }

    /// An account or a user that may act on the mailbox that the path names.
    var mailbox: Access<Mailboxes.Access> {
        Authentication { request, caller in
            let result = await grant(of: request.presentedToken, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                guard let grant = try result.get() else { throw .missingToken }
                return try await mailboxes.access(
                    to: request.mailboxReference, as: try grant.principal(for: .accounts))
            }
        }
    }

    /// The holder of an Email JWT.
    var emailToken: Access<MailboxSession> {
        Authentication { request, caller in
            let result = await grant(of: request.presentedToken, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                guard let grant = try result.get() else { throw .missingToken }
                guard case .account(let account) = grant.principal, let token = grant.session
                else { throw .forbidden }
                return MailboxSession(account: account, token: token)
            }
        }
    }

    /// A Pro user, by token or by session cookie.
    /// - Parameter scope: the scope that an API token needs; `nil` if every token is accepted.
    func user(_ scope: APIToken.Scope? = nil) -> Access<User> {
        user(needing: scope) { holder, _ in holder.user }
    }

    /// Like ``user(_:)`` for API tokens, together with the scopes and expiry that the caller can
    /// pass on.
    var tokenHolder: Access<TokenHolder> {
        user(needing: .tokens) { holder, _ in holder }
    }

    /// A Pro user who has logged in, by Pro JWT or session cookie. API tokens are rejected.
    var session: Access<SessionHolder> {
        user(needing: nil) { holder, _ throws(AccountsError) in
            guard let session = holder.session else { throw .forbidden }
            return SessionHolder(user: holder.user, session: session)
        }
    }

    /// Like ``session``, for a change of the user's credentials: the login must be recent.
    var recentLogin: Access<SessionHolder> {
        Authentication { request, caller in
            let identity = await session.identify(request, caller)
            return .init(limit: identity.limit) { () async throws(AccountsError) in
                let holder = try await identity.principal()
                try holder.session.requireRecentLogin(at: caller.now)
                return holder
            }
        }
    }

    /// A Pro user who owns the mailbox that the path names.
    var ownedMailbox: Access<Mailboxes.Access> {
        user(needing: .accounts) { holder, request throws(AccountsError) in
            try await mailboxes.access(to: request.mailboxReference, as: .user(holder.user))
        }
    }

    private func user<T: Sendable>(
        needing scope: APIToken.Scope?,
        _ body: @escaping @Sendable (TokenHolder, Request) async throws(AccountsError) -> T
    ) -> Access<T> {
        Authentication { request, caller in
            let (token, isCookie) = cookie.token(of: request)
            let result = await grant(of: token, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                // The browser sends the cookie with requests of every page, also of other sites.
                if isCookie, request.isCrossOriginWrite { throw .forbidden }
                guard let grant = try result.get() else { throw .missingToken }
                guard case .user(let user) = grant.principal else { throw .forbidden }
                if let scope { _ = try grant.principal(for: scope) }
                let holder = TokenHolder(
                    user: user, session: grant.userSession, apiToken: grant.apiToken)
                return try await body(holder, request)
            }
        }
    }

    private func grant(
        of token: String?, at now: Instant
    ) async -> Result<Grant?, AccountsError> {
        do {
            return .success(try await authenticator.grant(of: token, at: now))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == Grant?, Failure == AccountsError {
    /// The class of the request's rate limit: users have a separate bucket.
    fileprivate var rateClass: RateLimiter.Class {
        if case .success(let grant?) = self, case .user = grant.principal { .pro } else { .general }
    }
}

extension Request {
    /// The mailbox that the path names; `nil` for a text that names none.
    fileprivate var mailboxReference: Mailboxes.Reference? {
        parameters["account_id"].flatMap(Mailboxes.Reference.init)
    }
}
