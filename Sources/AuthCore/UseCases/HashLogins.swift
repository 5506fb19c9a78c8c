public import Cryptography
public import Scheduling

/// The use cases of the hash-login API: register an email with a URL that serves an Argon2 hash,
/// log in against the hash that it serves now, check a token, log out.
///
/// Responses do not show why a request failed, so that they do not show which emails are registered
/// or which hosts answer. Every failed fetch is the same error, at the earliest after
/// ``Settings/fetchFloor``. Every failed login is the same error, exactly ``Settings/failureFloor``
/// after arrival. Waiting blocks no thread.
public struct HashLogins: UseCases {
    public typealias Failure = HashLoginError

    /// The operator's settings.
    public struct Settings: Sendable {
        /// When a failed login is answered, counted from its arrival. Work that is not done by then
        /// counts as failed.
        public var failureFloor: Duration
        /// The shortest time in which a failed fetch is answered at registration.
        public var fetchFloor: Duration
        public var registerTimeout: Duration
        public var loginTimeout: Duration
        public var tokenLifetime: Duration
        /// The greatest cost that a served hash may have.
        public var bounds: Argon2Hash.Bounds
        /// How Argon2 is computed.
        public var kernel: Argon2.Kernel

        public init(
            failureFloor: Duration = .seconds(3), fetchFloor: Duration = .seconds(1),
            registerTimeout: Duration = .seconds(5), loginTimeout: Duration = .seconds(2),
            tokenLifetime: Duration = .seconds(3600), bounds: Argon2Hash.Bounds = .served,
            kernel: Argon2.Kernel = .best
        ) {
            self.failureFloor = failureFloor
            self.fetchFloor = fetchFloor
            self.registerTimeout = registerTimeout
            self.loginTimeout = loginTimeout
            self.tokenLifetime = tokenLifetime
            self.bounds = bounds
            self.kernel = kernel
        }
    }

    public let settings: Settings
    private let policy: AddressPolicy
    private let tokens: TokenAuthority
    private let keys: KeyRing
    private let logins: any HashLoginStore
    private let domains: any DomainStore
    private let audit: any AuditLog
    private let fetcher: any HashFetcher
    private let hashing: WorkerPool
    private let throttle: LoginThrottle
    private let stopwatch: any Stopwatch
    private let report: @Sendable (any Error) -> Void

    /// - Parameter report: gets the error when a hash cannot be computed at a login, which is
    ///   answered as a wrong password.
    public init(
        settings: Settings, policy: AddressPolicy, tokens: TokenAuthority, keys: KeyRing,
        stores: Stores,
        fetcher: any HashFetcher, hashing: WorkerPool, throttle: LoginThrottle,
        stopwatch: any Stopwatch, report: @escaping @Sendable (any Error) -> Void
    ) {
        self.settings = settings
        self.policy = policy
        self.tokens = tokens
        self.keys = keys
        logins = stores.hashLogins
        domains = stores.domains
        audit = stores.audit
        self.fetcher = fetcher
        self.hashing = hashing
        self.throttle = throttle
        self.stopwatch = stopwatch
        self.report = report
    }

    // MARK: Registration

    /// Registers `email` with the URL of its hash, once the password has proved that the hash
    /// belongs to the registrant. Whether the email is taken is looked up only then, so that the
    /// response shows it to registrants only.
    public func register(
        email emailText: String?, url urlText: String?, password: [UInt8]?, by caller: Caller
    ) async throws(HashLoginError) -> HashLogin {
        let email = try await newEmail(emailText)
        guard let password, !password.isEmpty else { throw .blankPassword }
        guard let source = urlText.flatMap(fetcher.source) else { throw .invalidHashURL }
        let body = try await fetch(source, by: caller)
        guard let hash = ServedHash(body, within: settings.bounds) else {
            throw .notAnArgon2Hash
        }
        guard try await attempt(await matches(hash, password, for: caller)) else {
            throw .hashMismatch
        }
        let login = HashLogin(email: email, url: source.url, created: caller.now)
        let event = AuditEvent(
            .hashLoginCreated, by: caller, actor: .anonymous, subject: email.text)
        guard try await attempt(await logins.insert(login, recording: event)) else {
            throw .emailTaken
        }
        return login
    }

    private func newEmail(_ text: String?) async throws(HashLoginError) -> Email {
        guard let text else { throw .blankEmail }
        guard let normal = Normal(text) else { throw .invalidEmail }
        guard !normal.text.isEmpty else { throw .blankEmail }
        guard let email = Email(parsing: text), try await !isHosted(email) else {
            throw .invalidEmail
        }
        return email
    }

    /// Fetches the hash. Every failure is the same error and is not reported before the floor,
    /// because the server could otherwise be used as a port scanner.
    private func fetch(
        _ source: any HashSource, by caller: Caller
    ) async throws(HashLoginError) -> [UInt8] {
        do {
            return try await source.fetch(
                for: .registration, by: caller.address,
                before: caller.arrival + settings.registerTimeout)
        } catch is HashFetchFailure {
            try await attempt(
                await stopwatch.wait(until: caller.arrival + settings.fetchFloor))
            throw .hashUnreachable
        } catch {
            throw .common(CommonError(error))
        }
    }

    // MARK: Login

    /// A login with its token.
    public struct Opened: Sendable {
        public let email: Email
        public let token: String
        public let lifetime: Duration
    }

    /// Checks the password against the hash that the email's URL serves now.
    /// - Throws: ``HashLoginError/loginFailed`` at ``Settings/failureFloor`` after arrival,
    ///   whatever the cause; rate limited after too many failures; busy when no login at all could
    ///   be checked.
    public func logIn(
        email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws(HashLoginError) -> Opened {
        guard let login = try await verified(email: text, password: password, by: caller) else {
            throw .loginFailed
        }
        let token = try await attempt(
            await tokens.sign(
                LoginToken(login), lifetime: settings.tokenLifetime, for: caller))
        return Opened(email: login.email, token: token, lifetime: settings.tokenLifetime)
    }

    /// The registration, if the password is correct; otherwise `nil`, at the failure floor.
    private func verified(
        email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws(HashLoginError) -> HashLogin? {
        try checkQueues(for: caller)
        let email = text.flatMap(Email.init(parsing:))
        let name = LoginName.hashLogin(email)
        let floor = caller.arrival + settings.failureFloor
        if let login = try await found(name, email, password, until: floor, by: caller) {
            let event = AuditEvent(
                .loginSucceeded, by: caller, actor: .email(login.email), subject: login.email.text)
            try await attempt(await audit.append(event))
            return login
        }
        let event = AuditEvent(.loginFailed, by: caller, actor: .anonymous, subject: name.subject)
        try await attempt(await record(event, after: floor))
        return nil
    }

    /// Counts the attempt before the email is looked up, so that registered and unregistered emails
    /// are throttled in the same way.
    private func found(
        _ name: LoginName, _ email: Email?, _ password: [UInt8]?,
        until floor: ContinuousClock.Instant, by caller: Caller
    ) async throws(HashLoginError) -> HashLogin? {
        let fetchDeadline = caller.arrival + settings.loginTimeout
        do {
            let attempt = try await throttle.begin(name, by: caller)
            let found: HashLogin??
            do {
                found = try await stopwatch.run(until: floor) {
                    try await match(
                        email: email, password: password, before: fetchDeadline, for: caller)
                }
            } catch {
                attempt.end(after: error)
                throw error
            }
            let login = found ?? nil
            attempt.end(as: login == nil ? .failed : .succeeded)
            return login
        } catch {
            throw .common(CommonError(error))
        }
    }

    /// A full queue is answered 503 only here, before the email is looked up. Later, a 503 would
    /// show that the email is registered, so the login fails instead.
    private func checkQueues(for caller: Caller) throws(HashLoginError) {
        try attemptNow(try fetcher.checkQueue(for: caller.address))
        _ = try attemptNow(try hashing.reserve(for: caller.address))
    }

    /// Writes the event after the floor. Before the floor, the time of the write would delay the
    /// response and show that there was work to do.
    private func record(
        _ event: AuditEvent, after floor: ContinuousClock.Instant
    ) async throws {
        do {
            try await stopwatch.wait(until: floor)
        } catch {
            // The client has disconnected; its attempt is recorded anyway.
            try await audit.append(event)
            throw error
        }
        try await audit.append(event)
    }

    private func match(
        email: Email?, password: [UInt8]?, before deadline: ContinuousClock.Instant,
        for caller: Caller
    ) async throws -> HashLogin? {
        guard let email, let password, !password.isEmpty, try await !isHosted(email),
            let login = try await logins.hashLogin(email: email),
            let source = fetcher.source(login.url.text)
        else { return nil }
        do {
            let body = try await source.fetch(
                for: .login, by: caller.address, before: deadline)
            guard let hash = ServedHash(body, within: settings.bounds) else { return nil }
            return try await matches(hash, password, for: caller) ? login : nil
        } catch is HashFetchFailure {
            return nil
        } catch let error as CryptographyError {
            // A 500 would show that the email is registered and its host answers; so would a 503.
            report(error)
            return nil
        } catch {
            guard case .busy = CommonError(error) else { throw error }
            return nil
        }
    }

    private func matches(
        _ hash: ServedHash, _ password: [UInt8], for caller: Caller
    ) async throws -> Bool {
        let kernel = settings.kernel
        return try await hashing.run(for: caller.address) {
            try hash.matches(password, kernel: kernel)
        }
    }

    // MARK: Tokens

    /// A valid login token.
    public struct ValidToken: Sendable {
        public let email: Email
        public let issuer: String
        public let issued: Instant
        public let expiry: Instant
        public let credentialVersion: Int64
    }

    /// - Throws: ``HashLoginError/invalidToken``, also when the email has been logged out since.
    public func validate(
        _ token: String?, at now: Instant
    ) async throws(HashLoginError) -> ValidToken {
        guard let token,
            let (login, expiry) = try await attempt(
                await tokens.verify(token, as: LoginToken.self, at: now)),
            let current = try await attempt(await logins.hashLogin(email: login.email)),
            current.credentialVersion == login.credentialVersion,
            try await !isHosted(login.email)
        else { throw .invalidToken }
        return ValidToken(
            email: login.email, issuer: tokens.realm.loginIssuer,
            issued: expiry.advanced(by: .zero - settings.tokenLifetime), expiry: expiry,
            credentialVersion: login.credentialVersion)
    }

    /// Ends every earlier token of an email, for one of them or for the password.
    /// - Throws: ``HashLoginError/logoutFailed``; by password at the failure floor, as a login.
    public func logOut(
        token: String?, email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws(HashLoginError) -> Email {
        if let token {
            let valid: ValidToken
            do throws(HashLoginError) {
                valid = try await validate(token, at: caller.now)
            } catch {
                if case .invalidToken = error { throw .logoutFailed }
                throw error
            }
            return try await end(valid.email, at: valid.credentialVersion, by: caller)
        }
        guard let login = try await verified(email: text, password: password, by: caller) else {
            throw .logoutFailed
        }
        return try await end(login.email, at: nil, by: caller)
    }

    private func end(
        _ email: Email, at version: Int64?, by caller: Caller
    ) async throws(HashLoginError) -> Email {
        let event = AuditEvent(
            .hashLoginEnded, by: caller, actor: .email(email), subject: email.text)
        guard try await attempt(await logins.endLogins(of: email, at: version, recording: event))
        else { throw .logoutFailed }
        return email
    }

    /// The public key of login tokens as PEM, for programs that verify them without this server.
    public func publicKey(at now: Instant) async throws(HashLoginError) -> String? {
        try await attempt(await keys.publishedSigner(.login, at: now))?.pem
    }

    /// Whether mailboxes can be created on the email's domain here. The email may then belong to
    /// the owner of a mailbox. An unverified domain of a user does not count: otherwise any user
    /// could block the hash logins of a domain by adding it.
    private func isHosted(_ email: Email) async throws(HashLoginError) -> Bool {
        if policy.domains.contains(email.domain) { return true }
        return try await attempt(await domains.domain(named: email.domain)) != nil
    }
}

extension Argon2Hash.Bounds {
    /// m ≤ 65,536 KiB, t ≤ 10, m × t ≤ 196,608 KiB, p ≤ 4, salt 8–64 bytes, tag 16–64
    /// (docs/api.md, "Hash-login API"). 65,536 KiB with three passes is the second recommendation
    /// of RFC 9106 §4.
    public static let served = Argon2Hash.Bounds(
        memoryKiB: 65_536, iterations: 10, parallelism: 4, memoryPasses: 196_608,
        saltBytes: 8...64, tagBytes: 16...64)
}
