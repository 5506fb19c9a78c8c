internal import Cryptography
public import WebAuthn

/// The passkeys of Pro users: register, list, rename, remove, log in.
public struct Passkeys: UseCases {
    public typealias Failure = AccountsError

    /// The operator's server as authenticators know it.
    public var site: RelyingParty { logins.site }

    private let tokens: TokenAuthority
    private let passkeys: any PasskeyStore
    private let sessions: UserSessions
    private let notices: UserNotices
    let logins: PasskeyLogin
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        site: RelyingParty, tokens: TokenAuthority, stores: Stores, sessions: UserSessions,
        notices: UserNotices, throttle: LoginThrottle, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.tokens = tokens
        passkeys = stores.passkeys
        self.sessions = sessions
        self.notices = notices
        logins = PasskeyLogin(
            site: site, passkeys: stores.passkeys, challenges: stores.challenges,
            throttle: throttle, audit: stores.audit)
        self.random = random
    }

    /// What a browser needs to make or use a passkey.
    public struct Options: Sendable {
        /// The client sends it back with the answer.
        public let token: String
        /// What the authenticator signs.
        public let challenge: [UInt8]
        /// For a registration: those that the user has, so that no authenticator makes a second
        /// one. For a second factor: those that may be used. Empty at a login, where the user
        /// chooses among all that the authenticator has for this server.
        public let credentials: [[UInt8]]
        public let lifetime: Duration
    }

    public func registrationOptions(
        for user: User, by caller: Caller
    ) async throws(AccountsError) -> Options {
        let token = PasskeyRegistrationToken(id: newID(), userID: user.id)
        return try await options(token, credentials: try await list(of: user), for: caller)
    }

    /// Adds a passkey and ends the user's other sessions.
    /// - Parameters:
    ///   - token: of the options.
    ///   - name: 1 to ``Passkey/maximumNameBytes`` bytes.
    /// - Throws: ``AccountsError/expiredChallenge``, ``AccountsError/invalidPasskey``,
    ///   ``AccountsError/passkeyExists``, ``AccountsError/passkeyLimitReached``.
    public func register(
        clientData: [UInt8], attestationObject: [UInt8], name: String, answering token: String,
        of user: User, in session: UserSession, by caller: Caller
    ) async throws(AccountsError) -> Passkey {
        let found = try await attempt(
            await tokens.verify(token, as: PasskeyRegistrationToken.self, at: caller.now))
        guard let (challenge, expiry) = found, challenge.userID == user.id else {
            throw .expiredChallenge
        }
        let credential: RegisteredCredential
        do throws(WebAuthnError) {
            credential = try RegisteredCredential(
                clientData: clientData, attestationObject: attestationObject,
                challenge: challenge.challenge, at: site)
        } catch {
            throw .invalidPasskey
        }
        guard try await attempt(await logins.challenges.spend(challenge.id, expiry: expiry))
        else { throw .expiredChallenge }
        let passkey = Passkey(
            id: PasskeyID(random: random(16)), owner: user.id, name: name,
            credential: credential.id, publicKey: credential.publicKey.pem,
            signatureCount: Int64(credential.signatureCount),
            isSynced: credential.isBackupEligible, created: caller.now)
        let result = try await attempt(
            await passkeys.insert(
                passkey, limit: Passkey.limit, recording: event(.passkeyAdded, user, caller),
                ending: UserSessions.others(than: session, of: user, by: caller)))
        switch result {
        case .inserted: break
        case .credentialTaken: throw .passkeyExists
        case .limitReached: throw .passkeyLimitReached
        }
        notices.notify(user, of: .passkeyAdded(name: name), by: caller)
        return passkey
    }

    public func list(of user: User) async throws(AccountsError) -> [Passkey] {
        try await attempt(await passkeys.passkeys(of: user.id))
    }

    /// - Parameter id: `nil` for a text that cannot be an id, here and below.
    /// - Throws: ``AccountsError/notFound``, here and below.
    public func rename(
        _ id: PasskeyID?, to name: String, of user: User, by caller: Caller
    ) async throws(AccountsError) {
        guard let id,
            try await attempt(
                await passkeys.rename(
                    id, of: user.id, to: name, recording: event(.passkeyRenamed, user, caller)))
        else { throw .notFound }
    }

    /// Removes a passkey and ends the user's other sessions.
    /// - Throws: ``AccountsError/lastCredential`` for the last passkey of a user without a
    ///   password and without identities.
    public func remove(
        _ id: PasskeyID?, of user: User, in session: UserSession, by caller: Caller
    ) async throws(AccountsError) {
        guard let passkey = try await list(of: user).first(where: { $0.id == id }) else {
            throw .notFound
        }
        let result = try await attempt(
            await passkeys.removePasskey(
                passkey.id, of: user.id, keepingAccess: true,
                recording: event(.passkeyRemoved, user, caller),
                ending: UserSessions.others(than: session, of: user, by: caller)))
        switch result {
        case .removed: break
        case .missing: throw .notFound
        case .isLast: throw .lastCredential
        }
        notices.notify(user, of: .passkeyRemoved(name: passkey.name), by: caller)
    }

    public func loginOptions(by caller: Caller) async throws(AccountsError) -> Options {
        try await options(PasskeyLoginToken(id: newID()), credentials: [], for: caller)
    }

    /// Logs the owner of a passkey in. Where the authenticator has not verified who uses it, a
    /// passkey is one factor, and a user with one-time codes needs a second one.
    /// - Parameters:
    ///   - token: of the options.
    ///   - agent: the request's `User-Agent` field, if it has one.
    /// - Throws: ``AccountsError/expiredChallenge``, ``AccountsError/invalidCredentials``,
    ///   ``AccountsError/secondFactorRequired(_:)``.
    public func logIn(
        with assertion: PasskeyAssertion, answering token: String, agent: String? = nil,
        by caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        let found = try await attempt(
            await tokens.verify(token, as: PasskeyLoginToken.self, at: caller.now))
        guard let (challenge, expiry) = found else { throw .expiredChallenge }
        let (user, isUserVerified) = try await logins.check(
            assertion, answering: .init(token: challenge, expiry: expiry), of: nil, by: caller)
        let opened = try await sessions.open(
            user, by: .passkey, hasSecondFactor: isUserVerified, agent: agent, for: caller)
        return try await sessions.keep(
            opened, if: try await logins.isStored(assertion), by: caller)
    }

    private func options(
        _ token: some AnsweredToken, credentials: [Passkey], for caller: Caller
    ) async throws(AccountsError) -> Options {
        let lifetime = AnsweredChallenge.lifetime
        return Options(
            token: try await attempt(await tokens.sign(token, lifetime: lifetime, for: caller)),
            challenge: token.challenge, credentials: credentials.map(\.credential),
            lifetime: lifetime)
    }

    private func newID() -> String {
        Base64URL.encode(random(AnsweredChallenge.randomBytes))
    }

    private func event(
        _ kind: AuditEvent.Kind, _ user: User, _ caller: Caller
    ) -> AuditEvent {
        AuditEvent(kind, by: caller, actor: .user(user.id), subject: user.email.text)
    }
}
