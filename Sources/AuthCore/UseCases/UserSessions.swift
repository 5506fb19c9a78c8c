internal import Cryptography
internal import Networking

/// The sessions of Pro users: open, list, end.
///
/// Every way of signing in ends with ``open(_:by:agent:for:)``.
public struct UserSessions: UseCases {
    public typealias Failure = AccountsError

    /// Sessions of one user. A login beyond ends the one that was not used for the longest time.
    static let maximumCount = 100

    private let tokens: TokenAuthority
    private let sessions: any UserSessionStore
    private let factors: any SecondFactorStore
    let lifetime: Duration
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - lifetime: of a session and its Pro JWT.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        tokens: TokenAuthority, stores: Stores, lifetime: Duration,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.tokens = tokens
        sessions = stores.userSessions
        factors = stores.secondFactors
        self.lifetime = lifetime
        self.random = random
    }

    /// A user with a token that gives access to everything they own.
    public struct Opened: Sendable {
        public let user: User
        /// A Pro JWT.
        public let token: String
        let session: UserSessionID
    }

    /// Opens a session for a user whose credential was checked, and records the login. A
    /// registration is recorded as such only.
    /// - Parameters:
    ///   - user: as it was read before the credential was checked.
    ///   - hasSecondFactor: whether the user has shown two factors. Otherwise no session opens for
    ///     a user with one-time codes.
    ///   - agent: the request's `User-Agent` field, if it has one.
    /// - Throws: ``AccountsError/invalidCredentials`` when the user was disabled or the user's
    ///   credentials were changed meanwhile, ``AccountsError/secondFactorRequired(_:)``.
    public func open(
        _ user: User, by method: UserSession.Method, hasSecondFactor: Bool = false,
        agent: String?, for caller: Caller
    ) async throws(AccountsError) -> Opened {
        let session = UserSession(
            id: UserSessionID(random: random(16)), owner: user.id, method: method,
            client: caller.address.client.description,
            agent: UserSession.printable(agent: agent ?? ""), created: caller.now,
            lastUsed: caller.now, expiry: caller.now.advanced(by: lifetime),
            authenticated: caller.now)
        let token = try await attempt(
            await tokens.sign(
                ProToken(session: session, user: user), lifetime: lifetime, for: caller))
        let event =
            method == .registration
            ? nil
            : AuditEvent(
                .loginSucceeded, by: caller, actor: .user(user.id), subject: user.email.text)
        let result = try await attempt(
            await sessions.insert(
                session, at: user.credentialVersion, hasSecondFactor: hasSecondFactor,
                limit: Self.maximumCount, recording: event))
        switch result {
        case .inserted: return Opened(user: user, token: token, session: session.id)
        case .rejected: throw .invalidCredentials
        case .secondFactorRequired:
            throw .secondFactorRequired(try await challenge(user, after: method, for: caller))
        }
    }

    private func challenge(
        _ user: User, after method: UserSession.Method, for caller: Caller
    ) async throws(AccountsError) -> SecondFactorChallenge {
        let token = SecondFactorToken(
            id: Base64URL.encode(random(AnsweredChallenge.randomBytes)), user: user,
            method: method)
        let lifetime = AnsweredChallenge.lifetime
        let held = try await attempt(await factors.factors(of: user.id))
        return SecondFactorChallenge(
            token: try await attempt(await tokens.sign(token, lifetime: lifetime, for: caller)),
            hasRecoveryCodes: held.recoveryCodes > 0, hasPasskeys: held.passkeys > 0,
            lifetime: lifetime)
    }

    /// Ends a session that was opened with a credential that is not there any more. The removal of
    /// a credential ends the user's other sessions, but not one that opens after that.
    /// - Parameter isCurrent: whether the credential is there, asked after the session was opened.
    /// - Throws: ``AccountsError/invalidCredentials``.
    func keep(
        _ opened: Opened, if isCurrent: Bool, by caller: Caller
    ) async throws(AccountsError) -> Opened {
        if isCurrent { return opened }
        do {
            try await end(opened.session, of: opened.user, by: caller)
        } catch .notFound {
            // It was ended already.
        }
        throw .invalidCredentials
    }

    /// The user's sessions, those that were used last first.
    public func list(of user: User, at now: Instant) async throws(AccountsError) -> [UserSession] {
        try await attempt(await sessions.sessions(of: user.id, at: now))
    }

    /// Ends a session at once.
    /// - Parameter id: `nil` for a text that cannot be an id.
    /// - Throws: ``AccountsError/notFound``.
    public func end(
        _ id: UserSessionID?, of user: User, by caller: Caller
    ) async throws(AccountsError) {
        guard let id,
            try await attempt(
                await sessions.endSession(
                    id, of: user.id,
                    recording: AuditEvent(
                        .sessionEnded, by: caller, actor: .user(user.id), subject: id.text)))
        else { throw .notFound }
    }

    /// Ends all sessions of the user but `session`.
    public func endOthers(
        than session: UserSession, of user: User, by caller: Caller
    ) async throws(AccountsError) {
        let others = Self.others(than: session, of: user, by: caller)
        _ = try await attempt(
            await sessions.endSessions(
                of: user.id, except: others.kept, recording: others.event))
    }

    /// All sessions of the user but `session`, to be ended with a change of a credential.
    static func others(
        than session: UserSession, of user: User, by caller: Caller
    ) -> OtherSessions {
        OtherSessions(
            than: session.id,
            recording: AuditEvent(
                .otherSessionsEnded, by: caller, actor: .user(user.id),
                subject: user.email.text))
    }
}
