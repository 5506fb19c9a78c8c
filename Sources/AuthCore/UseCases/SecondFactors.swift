internal import Cryptography
internal import WebAuthn

/// The second factor of Pro users: turn one-time codes on and off, make recovery codes, log in.
///
/// Once a user has one-time codes, no session opens without a second factor
/// (``UserSessionStore``). API tokens are not asked for one.
public struct SecondFactors: UseCases {
    public typealias Failure = AccountsError

    private let tokens: TokenAuthority
    private let users: any UserStore
    private let factors: any SecondFactorStore
    private let sessions: UserSessions
    private let passkeys: Passkeys
    private let notices: UserNotices
    private let throttle: LoginThrottle
    private let audit: any AuditLog
    private let keys: KeyRing
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        tokens: TokenAuthority, stores: Stores, sessions: UserSessions, passkeys: Passkeys,
        notices: UserNotices, throttle: LoginThrottle, keys: KeyRing,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.tokens = tokens
        users = stores.users
        factors = stores.secondFactors
        self.sessions = sessions
        self.passkeys = passkeys
        self.notices = notices
        self.throttle = throttle
        audit = stores.audit
        self.keys = keys
        self.random = random
    }

    /// A secret of one-time codes that is not in use yet.
    public struct Enrolment: Sendable {
        /// The client sends it back with the first code.
        public let token: String
        /// For apps into which it is typed: base32.
        public let secret: String
        /// For apps that read QR codes.
        public let uri: String
        public let lifetime: Duration
    }

    public func factors(of user: User) async throws(AccountsError) -> Factors {
        try await attempt(await factors.factors(of: user.id))
    }

    /// Makes a new secret. Nothing changes until ``confirm(_:answering:of:in:by:)``.
    /// - Throws: ``AccountsError/totpExists``.
    public func begin(
        for user: User, by caller: Caller
    ) async throws(AccountsError) -> Enrolment {
        guard try await factors(of: user).totpCreated == nil else { throw .totpExists }
        let secret = random(TOTP.secretBytes)
        let token = TOTPEnrolmentToken(
            id: Base64URL.encode(random(AnsweredChallenge.randomBytes)), userID: user.id,
            secret: secret)
        let lifetime = AnsweredChallenge.lifetime
        return Enrolment(
            token: try await attempt(await tokens.sign(token, lifetime: lifetime, for: caller)),
            secret: Base32.encode(secret),
            uri: TOTP.uri(of: secret, issuer: passkeys.site.id, account: user.email),
            lifetime: lifetime)
    }

    /// Turns one-time codes on and ends the user's other sessions.
    /// - Parameters:
    ///   - code: the first one, which shows that the user's app has the secret.
    ///   - token: of the enrolment.
    /// - Returns: the recovery codes, which are shown this once.
    /// - Throws: ``AccountsError/expiredChallenge``, ``AccountsError/wrongCode``,
    ///   ``AccountsError/totpExists``.
    public func confirm(
        _ code: String, answering token: String, of user: User, in session: UserSession,
        by caller: Caller
    ) async throws(AccountsError) -> [RecoveryCode] {
        let found = try await attempt(
            await tokens.verify(token, as: TOTPEnrolmentToken.self, at: caller.now))
        guard let (enrolment, expiry) = found, enrolment.userID == user.id else {
            throw .expiredChallenge
        }
        guard let step = TOTP.step(of: code, for: enrolment.secret, at: caller.now, after: -1)
        else { throw .wrongCode }
        // Confirmed once: after the codes were turned off, nobody can turn them on again with a
        // secret that they have seen.
        guard
            try await attempt(
                await passkeys.logins.challenges.spend(enrolment.id, expiry: expiry))
        else { throw .expiredChallenge }
        // Fails if the master secret was replaced and this server does not have the new one yet.
        try await attempt(await keys.refresh())
        let totp = StoredTOTP(
            owner: user.id,
            sealedSecret: try attemptNow(try keys.seal(enrolment.secret, as: .totp(user.id))),
            lastStep: step, created: caller.now)
        let codes = newRecoveryCodes()
        let isInserted = try await attempt(
            await factors.insert(
                totp, recoveryCodes: codes.map(\.digest),
                recording: event(.totpEnabled, user, caller),
                ending: UserSessions.others(than: session, of: user, by: caller)))
        guard isInserted else { throw .totpExists }
        notices.notify(user, of: .totpEnabled, by: caller)
        return codes
    }

    /// Turns one-time codes off, removes the recovery codes and ends the user's other sessions.
    /// - Throws: ``AccountsError/notFound`` for a user without one-time codes, here and below.
    public func remove(
        of user: User, in session: UserSession, by caller: Caller
    ) async throws(AccountsError) {
        guard
            try await attempt(
                await factors.removeTOTP(
                    of: user.id, recording: event(.totpDisabled, user, caller),
                    ending: UserSessions.others(than: session, of: user, by: caller)))
        else { throw .notFound }
        notices.notify(user, of: .totpDisabled, by: caller)
    }

    /// Replaces the recovery codes and ends the user's other sessions.
    /// - Returns: the new ones, which are shown this once.
    public func replaceRecoveryCodes(
        of user: User, in session: UserSession, by caller: Caller
    ) async throws(AccountsError) -> [RecoveryCode] {
        let codes = newRecoveryCodes()
        guard
            try await attempt(
                await factors.replaceRecoveryCodes(
                    of: user.id, by: codes.map(\.digest),
                    recording: event(.recoveryCodesReplaced, user, caller),
                    ending: UserSessions.others(than: session, of: user, by: caller)))
        else { throw .notFound }
        notices.notify(user, of: .recoveryCodesReplaced, by: caller)
        return codes
    }

    /// The second factor that a user presents.
    public enum Proof: Sendable {
        case code(String)
        case recoveryCode(String)
        case passkey(PasskeyAssertion)
    }

    /// What a browser needs to use a passkey as the second factor.
    /// - Parameter token: of the ``SecondFactorChallenge``.
    /// - Throws: ``AccountsError/expiredChallenge``.
    public func passkeyOptions(
        answering token: String, by caller: Caller
    ) async throws(AccountsError) -> Passkeys.Options {
        let (challenge, expiry, user) = try await read(token, at: caller.now)
        return Passkeys.Options(
            token: token, challenge: challenge.challenge,
            credentials: try await passkeys.list(of: user).map(\.credential),
            lifetime: expiry.since(caller.now))
    }

    /// Checks the second factor and opens the session. A factor that is wrong counts as a failed
    /// login of a kind of its own, which the right password does not clear.
    /// - Parameters:
    ///   - token: of the ``SecondFactorChallenge``.
    ///   - agent: the request's `User-Agent` field, if it has one.
    /// - Throws: ``AccountsError/expiredChallenge``, ``AccountsError/invalidCredentials``.
    public func logIn(
        with proof: Proof, answering token: String, agent: String? = nil, by caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        let (challenge, expiry, user) = try await read(token, at: caller.now)
        let before = try await factors(of: user)
        switch proof {
        case .code(let code):
            try await checkSecret(of: user, by: caller) {
                try await isValid(code, of: user, caller)
            }
        case .recoveryCode(let code):
            try await checkSecret(of: user, by: caller) {
                guard let digest = RecoveryCode.digest(ofTyped: code) else { return false }
                return try await factors.spendRecoveryCode(
                    digest, of: user.id, recording: event(.recoveryCodeUsed, user, caller))
            }
            notices.notify(user, of: .recoveryCodeUsed, by: caller)
        case .passkey(let assertion):
            let (_, isUserVerified) = try await passkeys.logins.check(
                assertion, answering: .init(token: challenge, expiry: expiry), of: user.id,
                by: caller)
            // The same passkey again would be no second factor.
            guard challenge.method != .passkey || isUserVerified else { throw .invalidCredentials }
            let opened = try await open(user, challenge, agent, caller)
            return try await sessions.keep(
                opened, if: try await passkeys.logins.isStored(assertion), by: caller)
        }
        guard
            try await attempt(
                await passkeys.logins.challenges.spend(challenge.id, expiry: expiry))
        else { throw .expiredChallenge }
        let opened = try await open(user, challenge, agent, caller)
        let after = try await factors(of: user)
        // Where a recovery code was used there are fewer of them, unless all were replaced.
        let hasCodes =
            if case .recoveryCode = proof { after.recoveryCodes < before.recoveryCodes } else {
                true
            }
        return try await sessions.keep(
            opened, if: hasCodes && after.totpCreated == before.totpCreated, by: caller)
    }

    private func open(
        _ user: User, _ challenge: SecondFactorToken, _ agent: String?, _ caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        try await sessions.open(
            user, by: challenge.method, hasSecondFactor: true, agent: agent, for: caller)
    }

    private func read(
        _ token: String, at now: Instant
    ) async throws(AccountsError) -> (SecondFactorToken, expiry: Instant, User) {
        guard
            let (challenge, expiry) = try await attempt(
                await tokens.verify(token, as: SecondFactorToken.self, at: now)),
            let user = try await attempt(await users.user(id: challenge.userID)),
            user.state == .active, user.credentialVersion == challenge.credentialVersion
        else { throw .expiredChallenge }
        return (challenge, expiry, user)
    }

    private func isValid(_ code: String, of user: User, _ caller: Caller) async throws -> Bool {
        switch try await factors.beginGuess(of: user.id, at: caller.now) {
        case .missing: return false
        case .limited(let next):
            let wait = max(1, (next.since(caller.now).wholeMilliseconds + 999) / 1000)
            throw RateLimited(retryAfter: .seconds(wait))
        case .allowed(let totp):
            var secret = try keys.open(totp.sealedSecret, as: .totp(user.id))
            defer { secret.wipe() }
            guard
                let step = TOTP.step(of: code, for: secret, at: caller.now, after: totp.lastStep)
            else { return false }
            return try await factors.acceptCode(at: step, of: totp)
        }
    }

    private func checkSecret(
        of user: User, by caller: Caller, _ isValid: () async throws -> Bool
    ) async throws(AccountsError) {
        let name = LoginName.secondFactor(user.email)
        do {
            let attempt = try await throttle.begin(name, by: caller)
            let isRight: Bool
            do {
                isRight = try await isValid()
            } catch {
                attempt.end(after: error)
                throw error
            }
            attempt.end(as: isRight ? .succeeded : .failed)
            if isRight { return }
        } catch {
            throw .common(CommonError(error))
        }
        try await attempt(
            await audit.append(
                AuditEvent(.loginFailed, by: caller, actor: .anonymous, subject: name.subject)))
        throw .invalidCredentials
    }

    private func newRecoveryCodes() -> [RecoveryCode] {
        (0..<RecoveryCode.count).map { _ in
            RecoveryCode(random: random(RecoveryCode.randomBytes))
        }
    }

    private func event(
        _ kind: AuditEvent.Kind, _ user: User, _ caller: Caller
    ) -> AuditEvent {
        AuditEvent(kind, by: caller, actor: .user(user.id), subject: user.email.text)
    }
}
