internal import Cryptography
public import IdentityProviders
internal import Networking

/// Signs Pro users in with identity providers, and links their identities there.
///
/// A person is known by the provider's issuer and subject, never by an email: an email only makes
/// a new user, and only one that the provider has verified and that no user has. So nobody gets the
/// user of another one by an email.
public struct ProviderLogins: UseCases {
    public typealias Failure = AccountsError

    /// How long a sign-in may take at the provider.
    private static let lifetime: Duration = .seconds(600)

    public let providers: [LoginProvider]
    private let publicURL: String
    private let tokens: TokenAuthority
    private let stores: Stores
    private let users: Users
    private let sessions: UserSessions
    private let throttle: LoginThrottle
    private let report: @Sendable (_ provider: String, ProviderError) -> Void
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - report: called with the cause when a provider does not say who it is. Not for clients.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        providers: [LoginProvider], tokens: TokenAuthority, stores: Stores, users: Users,
        sessions: UserSessions, throttle: LoginThrottle,
        report: @escaping @Sendable (_ provider: String, ProviderError) -> Void,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.providers = providers
        publicURL = tokens.realm.issuer
        self.tokens = tokens
        self.stores = stores
        self.users = users
        self.sessions = sessions
        self.throttle = throttle
        self.report = report
        self.random = random
    }

    /// A sign-in that has begun.
    public struct Begun: Sendable {
        /// Where the browser goes.
        public let url: String
        /// The browser must bring it back, and nobody else may have it.
        public let token: String
        public let lifetime: Duration
    }

    /// Begins a login.
    /// - Throws: ``AccountsError/notFound`` for an unknown provider, here and below,
    ///   ``AccountsError/providerUnavailable``.
    public func begin(
        at name: String, by caller: Caller
    ) async throws(AccountsError) -> Begun {
        try await begin(.login, at: name, by: caller)
    }

    /// Begins to link an identity to the user, who has just logged in.
    public func beginLink(
        at name: String, to user: User, in session: UserSession, by caller: Caller
    ) async throws(AccountsError) -> Begun {
        try await begin(.link(user.id, session.id), at: name, by: caller)
    }

    private func begin(
        _ purpose: ProviderLoginToken.Purpose, at name: String, by caller: Caller
    ) async throws(AccountsError) -> Begun {
        let provider = try provider(name)
        let token = ProviderLoginToken(
            id: Base64URL.encode(random(AnsweredChallenge.randomBytes)), provider: name,
            purpose: purpose)
        let url: String
        do throws(ProviderError) {
            url = try await provider.client.authorizationURL(signIn(token, by: caller))
        } catch {
            throw failure(error, at: name)
        }
        return Begun(
            url: url,
            token: try await attempt(
                await tokens.sign(token, lifetime: Self.lifetime, for: caller)),
            lifetime: Self.lifetime)
    }

    public enum Outcome: Sendable {
        case loggedIn(UserSessions.Opened)
        case linked(Identity)
    }

    /// Ends a sign-in: logs in, adds the user, or links the identity. A sign-in ends once, whatever
    /// comes of it. Everything that fails counts as a failed login of the client, unless it is for
    /// the provider to mend, or this browser has begun no sign-in.
    /// - Parameter agent: the request's `User-Agent` field, if it has one.
    /// - Throws: ``AccountsError/signInExpired``, ``AccountsError/providerDenied``,
    ///   ``AccountsError/providerRejected``, ``AccountsError/providerUnavailable``,
    ///   ``AccountsError/emailNotVerified``, ``AccountsError/emailNotAllowed``,
    ///   ``AccountsError/linkRequired``, ``AccountsError/registrationClosed``,
    ///   ``AccountsError/invalidEmail``, ``AccountsError/identityTaken``,
    ///   ``AccountsError/identityExists``, ``AccountsError/invalidCredentials`` for a disabled
    ///   user, ``AccountsError/secondFactorRequired(_:)``.
    public func finish(
        _ callback: Callback, at name: String, agent: String? = nil, by caller: Caller
    ) async throws(AccountsError) -> Outcome {
        let provider = try provider(name)
        // Any page can send a browser here. Only what was begun here counts.
        let begun = try await begun(callback, at: provider, caller)
        let login = LoginName.provider(name, caller.address.client)
        let result: Result<Outcome, AccountsError>
        do {
            let attempt = try await throttle.begin(login, by: caller)
            result = await ended(callback, begun, at: provider, agent, caller)
            attempt.end(as: Self.outcome(of: result))
        } catch {
            throw .common(CommonError(error))
        }
        if case .failed = Self.outcome(of: result) {
            let event = AuditEvent(
                .loginFailed, by: caller, actor: .anonymous, subject: login.subject)
            try await attempt(await stores.audit.append(event))
        }
        return try result.get()
    }

    /// How it counts.
    private static func outcome(of result: Result<Outcome, AccountsError>) -> LoginThrottle.Outcome
    {
        switch result {
        case .success, .failure(.secondFactorRequired): .succeeded
        case .failure(.providerUnavailable), .failure(.providerDenied): .unchecked
        // A client that disconnects gets no free try.
        case .failure(.common(.failed(let cause))):
            cause is CancellationError ? .failed : .unchecked
        case .failure(.common): .unchecked
        case .failure: .failed
        }
    }

    private func ended(
        _ callback: Callback, _ begun: BegunToken, at provider: LoginProvider,
        _ agent: String?, _ caller: Caller
    ) async -> Result<Outcome, AccountsError> {
        do throws(AccountsError) {
            return .success(try await end(callback, begun, at: provider, agent, caller))
        } catch {
            return .failure(error)
        }
    }

    private func end(
        _ callback: Callback, _ begun: BegunToken, at provider: LoginProvider,
        _ agent: String?, _ caller: Caller
    ) async throws(AccountsError) -> Outcome {
        let token = begun.token
        guard let state = callback.state,
            SecretBytes(Array(state.utf8))
                == SecretBytes(Array(SignInSecrets(secret: token.challenge).state.utf8)),
            try await attempt(await stores.challenges.spend(token.id, expiry: begun.expiry))
        else { throw .signInExpired }
        let identity: ProviderIdentity
        do throws(ProviderError) {
            identity = try await self.identity(callback, at: provider, signIn(token, by: caller))
        } catch {
            throw failure(error, at: provider.name)
        }
        try provider.check(identity)
        switch token.purpose {
        case .login:
            return .loggedIn(try await logIn(identity, at: provider, agent, caller))
        case .link(let user, let session):
            return .linked(try await link(identity, at: provider, to: user, in: session, caller))
        }
    }

    private typealias BegunToken = (token: ProviderLoginToken, expiry: Instant)

    /// The sign-in that this browser began at this provider.
    private func begun(
        _ callback: Callback, at provider: LoginProvider, _ caller: Caller
    ) async throws(AccountsError) -> BegunToken {
        guard let text = callback.token,
            let (token, expiry) = try await attempt(
                await tokens.verify(text, as: ProviderLoginToken.self, at: caller.now)),
            token.provider == provider.name
        else { throw .signInExpired }
        return (token, expiry)
    }

    private func identity(
        _ callback: Callback, at provider: LoginProvider, _ signIn: ProviderClient.SignIn
    ) async throws(ProviderError) -> ProviderIdentity {
        if let code = callback.error {
            try await provider.client.checkIssuer(callback.issuer, signIn)
            throw .denied(code: code)
        }
        guard let code = callback.code else { throw .invalid("there is no code") }
        return try await provider.client.identity(code: code, issuer: callback.issuer, signIn)
    }

    // MARK: Logging in

    private func logIn(
        _ identity: ProviderIdentity, at provider: LoginProvider, _ agent: String?,
        _ caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        if let opened = try await logInKnown(identity, at: provider, agent, caller) {
            return opened
        }
        if let user = try await newUser(identity, at: provider, caller) {
            return try await open(user, by: identity, at: provider, agent, caller)
        }
        // Another first login of the same person came first.
        guard let opened = try await logInKnown(identity, at: provider, agent, caller) else {
            throw .invalidCredentials
        }
        return opened
    }

    /// - Returns: `nil` for somebody who was never here.
    private func logInKnown(
        _ identity: ProviderIdentity, at provider: LoginProvider, _ agent: String?,
        _ caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened? {
        guard let (known, user) = try await holder(of: identity, at: provider) else { return nil }
        guard user.state == .active else { throw .invalidCredentials }
        try await attempt(
            await stores.identities.noteUse(
                of: known.id, provider: provider.name,
                email: identity.email.map(Identity.printable(email:)), at: caller.now))
        return try await open(user, by: identity, at: provider, agent, caller)
    }

    private func open(
        _ user: User, by identity: ProviderIdentity, at provider: LoginProvider,
        _ agent: String?, _ caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        let opened = try await sessions.open(
            user, by: .provider(provider.name), agent: agent, for: caller)
        let holder = try await holder(of: identity, at: provider)
        return try await sessions.keep(opened, if: holder?.owner.id == user.id, by: caller)
    }

    private func holder(
        of identity: ProviderIdentity, at provider: LoginProvider
    ) async throws(AccountsError) -> (identity: Identity, owner: User)? {
        try await attempt(
            await stores.identities.holder(
                issuer: provider.client.settings.issuer, subject: identity.subject))
    }

    /// - Returns: `nil` if the identity is there by now.
    private func newUser(
        _ found: ProviderIdentity, at provider: LoginProvider, _ caller: Caller
    ) async throws(AccountsError) -> User? {
        guard let email = found.verifiedEmail else { throw .emailNotVerified }
        guard try await attempt(await stores.users.user(email: email)) == nil else {
            return try await requireKnown(found, at: provider)
        }
        // With domains the operator has said who may come.
        try await users.beginRegistration(
            of: email, isOpen: !provider.allowedDomains.isEmpty, by: caller)
        let user = User(
            id: UserID(random: random(16)), email: email, password: nil, created: caller.now,
            emailVerified: caller.now)
        let event = AuditEvent(.userCreated, by: caller, actor: .anonymous, subject: email.text)
        let identity = identity(found, at: provider, of: user.id, caller)
        switch try await attempt(
            await stores.identities.insert(user, with: identity, recording: event))
        {
        case .inserted: return user
        case .emailTaken: return try await requireKnown(found, at: provider)
        case .identityTaken, .providerTaken, .rejected: return nil
        }
    }

    /// Of two first logins at once the other one may have been of the same person.
    /// - Throws: ``AccountsError/linkRequired`` if the email is that of another one's user.
    private func requireKnown(
        _ found: ProviderIdentity, at provider: LoginProvider
    ) async throws(AccountsError) -> User? {
        guard try await holder(of: found, at: provider) != nil else { throw .linkRequired }
        return nil
    }

    // MARK: Linking

    private func link(
        _ found: ProviderIdentity, at provider: LoginProvider, to id: UserID,
        in sessionID: UserSessionID, _ caller: Caller
    ) async throws(AccountsError) -> Identity {
        guard
            let (session, user) = try await attempt(
                await stores.userSessions.holder(of: sessionID)), user.id == id,
            caller.now < session.expiry
        else { throw .signInExpired }
        let identity = identity(found, at: provider, of: user.id, caller)
        let result = try await attempt(
            await stores.identities.insert(
                identity, at: user.credentialVersion,
                recording: event(.identityLinked, identity, of: user, caller),
                ending: UserSessions.others(than: session, of: user, by: caller)))
        switch result {
        case .inserted:
            users.notices.notify(user, of: .providerLinked(name: provider.name), by: caller)
            return identity
        case .rejected: throw .signInExpired
        case .identityTaken, .emailTaken: throw .identityTaken
        case .providerTaken: throw .identityExists
        }
    }

    public func identities(of user: User) async throws(AccountsError) -> [Identity] {
        try await attempt(await stores.identities.identities(of: user.id))
    }

    /// Removes an identity and ends the user's other sessions.
    /// - Parameter id: `nil` for a text that cannot be an id.
    /// - Throws: ``AccountsError/notFound``, ``AccountsError/lastCredential`` for the last identity
    ///   of a user without a password and without passkeys.
    public func unlink(
        _ id: IdentityID?, of user: User, in session: UserSession, by caller: Caller
    ) async throws(AccountsError) {
        guard let identity = try await identities(of: user).first(where: { $0.id == id })
        else { throw .notFound }
        let result = try await attempt(
            await stores.identities.removeIdentity(
                identity.id, of: user.id, keepingAccess: true,
                recording: event(.identityUnlinked, identity, of: user, caller),
                ending: UserSessions.others(than: session, of: user, by: caller)))
        switch result {
        case .removed:
            users.notices.notify(user, of: .providerUnlinked(name: identity.provider), by: caller)
        case .missing: throw .notFound
        case .isLast: throw .lastCredential
        }
    }

    private func provider(_ name: String) throws(AccountsError) -> LoginProvider {
        guard let provider = providers.first(where: { $0.name == name }) else { throw .notFound }
        return provider
    }

    private func signIn(
        _ token: ProviderLoginToken, by caller: Caller
    ) -> ProviderClient.SignIn {
        ProviderClient.SignIn(
            secrets: SignInSecrets(secret: token.challenge),
            redirectURI: "\(publicURL)/api/user/oauth/\(token.provider)/callback",
            client: caller.address, now: caller.now.seconds, arrival: caller.arrival)
    }

    private func failure(_ error: ProviderError, at name: String) -> AccountsError {
        switch error {
        case .denied: return .providerDenied
        case .unavailable:
            report(name, error)
            return .providerUnavailable
        case .invalid:
            report(name, error)
            return .providerRejected
        }
    }

    private func identity(
        _ found: ProviderIdentity, at provider: LoginProvider, of owner: UserID, _ caller: Caller
    ) -> Identity {
        Identity(
            id: IdentityID(random: random(16)), owner: owner, provider: provider.name,
            issuer: provider.client.settings.issuer, subject: found.subject,
            email: found.email.map(Identity.printable(email:)), created: caller.now,
            lastUsed: caller.now)
    }

    private func event(
        _ kind: AuditEvent.Kind, _ identity: Identity, of user: User, _ caller: Caller
    ) -> AuditEvent {
        AuditEvent(
            kind, by: caller, actor: .user(user.id),
            subject: identity.eventSubject(of: user.email))
    }
}
