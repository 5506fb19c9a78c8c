internal import Cryptography

/// A login with the token that says so.
public struct OpenLogin: Sendable {
    public let email: Email
    public let token: String
}

/// A login token that is good, and until when.
public struct ValidLogin: Sendable {
    public let email: Email
    public let issuer: String
    public let issued: Instant
    public let expiry: Instant
    public let credentialVersion: Int64
}

extension HashLoginAuth {
    /// Checks the password against what the email's URL serves now.
    /// - Throws: ``Refusal/loginFailed`` at ``Settings/failureFloor`` after arrival, whatever the
    ///   cause; ``Refusal/tooManyRequests(retryAfter:)`` after too many failures;
    ///   ``Refusal/busy(retryAfter:)`` where a login could not be checked, whosever it is.
    public func login(
        email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws -> OpenLogin {
        let login = try await proved(email: text, password: password, by: caller)
        guard let login else { throw Refusal.loginFailed }
        return OpenLogin(email: login.email, token: try await token(for: login, at: caller.now))
    }

    /// - Throws: ``Refusal/invalidLoginToken``, also when the email has been logged out since.
    public func validate(_ token: String?, at now: Instant) async throws -> ValidLogin {
        guard let token,
            let (login, expiry) = try await tokens.verify(token, as: LoginToken.self, at: now),
            let current = try await logins.hashLogin(email: login.email),
            current.credentialVersion == login.credentialVersion,
            try await !isOurs(login.email)
        else { throw Refusal.invalidLoginToken }
        return ValidLogin(
            email: login.email, issuer: tokens.realm.loginIssuer,
            issued: expiry.advanced(by: .zero - settings.tokenLifetime), expiry: expiry,
            credentialVersion: login.credentialVersion)
    }

    /// Ends every token of an email that was made before, for one of them or for the password.
    /// - Throws: ``Refusal/logoutFailed``; by password at the failure floor, as a login.
    public func logout(
        token: String?, email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws -> Email {
        if let token {
            do {
                let valid = try await validate(token, at: caller.now)
                return try await end(valid.email, at: valid.credentialVersion, by: caller)
            } catch Refusal.invalidLoginToken {
                throw Refusal.logoutFailed
            }
        }
        guard let login = try await proved(email: text, password: password, by: caller) else {
            throw Refusal.logoutFailed
        }
        return try await end(login.email, at: nil, by: caller)
    }

    private func end(_ email: Email, at version: Int64?, by caller: Caller) async throws -> Email {
        let event = AuditEvent(.hashLoginEnded, by: caller, actor: "\(email)", subject: email.text)
        guard try await logins.endLogins(of: email, at: version, recording: event) else {
            throw Refusal.logoutFailed
        }
        return email
    }

    private func token(for login: HashLogin, at now: Instant) async throws -> String {
        try await tokens.sign(LoginToken(login), lifetime: settings.tokenLifetime, at: now)
    }

    /// The registration, if the password is right; otherwise `nil`, and not before the failure
    /// floor. What is not done by the floor counts as failed.
    private func proved(
        email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws -> HashLogin? {
        try await demandRoom()
        let email = text.flatMap(Email.init(parsing:))
        let name = "hash-login:\(email?.text ?? "")"
        try throttle.admit(account: name, from: caller.client, at: caller.now)
        let floor = caller.now.advanced(by: settings.failureFloor)
        let found = try await stopwatch.run(until: floor) {
            try await match(email: email, password: password)
        }
        if let login = found ?? nil {
            throttle.recordSuccess(account: name, from: caller.client, at: caller.now)
            try await audit.append(
                AuditEvent(
                    .loginSucceeded, by: caller, actor: "\(login.email)",
                    subject: login.email.text))
            return login
        }
        throttle.recordFailure(
            account: name, secret: .bytes(password ?? []), from: caller.client, at: caller.now)
        try await recordFailure(
            AuditEvent(
                .loginFailed, by: caller, actor: "anonymous", subject: email?.text ?? "no email"),
            after: floor)
        return nil
    }

    /// A full queue is a 503 (contract section 0), and only here, where nobody has looked at the
    /// email, can that be said without telling that it is registered. Room that is gone by the time
    /// it is needed fails the login instead.
    private func demandRoom() async throws {
        try fetcher.demandRoom()
        try await hashing.withPlace { _ in }
    }

    /// Writing takes as long as the disk does, so that it waits for the floor even where there was
    /// time before it: an answer that is late by a write would show that work was under way.
    private func recordFailure(_ event: AuditEvent, after floor: Instant) async throws {
        do {
            try await stopwatch.wait(until: floor)
        } catch {
            // The client has gone; what it tried is on record all the same.
            try await audit.append(event)
            throw error
        }
        try await audit.append(event)
    }

    private func match(email: Email?, password: [UInt8]?) async throws -> HashLogin? {
        guard let email, let password, !password.isEmpty, try await !isOurs(email),
            let login = try await logins.hashLogin(email: email),
            let body = try await fetches.run(email.text, { try await fetched(login.url) }) ?? nil,
            let hash = ServedHash(body, within: settings.bounds)
        else { return nil }
        do {
            return try await hashing.run { try hash.matches(password) } ? login : nil
        } catch Refusal.busy {
            // A 503 would tell that the email is registered and its host answers; so would a 500.
            return nil
        } catch is CryptographyError {
            return nil
        }
    }

    /// - Returns: `nil` for whatever keeps the hash from coming: the fetcher has logged the cause,
    ///   and the client is told what every failure is told.
    private func fetched(_ url: HashURL) async throws -> [UInt8]? {
        do {
            return try await fetcher.fetch(url, timeout: settings.loginTimeout)
        } catch is HashFetchFailure {
            return nil
        } catch Refusal.busy {
            return nil
        }
    }
}
