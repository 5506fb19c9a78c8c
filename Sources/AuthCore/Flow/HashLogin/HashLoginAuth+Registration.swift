extension HashLoginAuth {
    /// Registers `email` with the URL of its hash, once the password has proved that the hash is
    /// the registrant's. Whether the email is taken is looked at only then, so that a stranger
    /// learns nothing.
    /// - Throws: the ``Refusal`` for what is wrong with it; ``Refusal/busy(retryAfter:)`` when the
    ///   hash cannot be fetched or computed for want of room.
    public func register(
        email emailText: String?, url urlText: String?, password: [UInt8]?, by caller: Caller
    ) async throws -> HashLogin {
        let email = try await newEmail(emailText)
        guard let password, !password.isEmpty else { throw Refusal.blankPassword }
        guard let url = urlText.flatMap(fetcher.url(parsing:)) else {
            throw Refusal.invalidHashURL
        }
        let body = try await fetched(url, by: caller)
        guard let hash = ServedHash(body, within: settings.bounds) else {
            throw Refusal.notAnArgon2Hash
        }
        guard try await hashing.run({ try hash.matches(password) }) else {
            throw Refusal.hashMismatch
        }
        let login = HashLogin(email: email, url: url, created: caller.now)
        let event = AuditEvent(
            .hashLoginCreated, by: caller, actor: "anonymous", subject: email.text)
        guard try await logins.insert(login, recording: event) else { throw Refusal.emailTaken }
        return login
    }

    private func newEmail(_ text: String?) async throws -> Email {
        guard let text, let normal = Normal(text) else {
            throw text == nil ? Refusal.blankEmail : Refusal.invalidEmail
        }
        guard !normal.text.isEmpty else { throw Refusal.blankEmail }
        guard let email = Email(parsing: text) else { throw Refusal.invalidEmail }
        guard try await !isOurs(email) else { throw Refusal.invalidEmail }
        return email
    }

    /// Whatever keeps the hash from coming is one refusal, answered no sooner than the floor: the
    /// server is no port scanner.
    private func fetched(_ url: HashURL, by caller: Caller) async throws -> [UInt8] {
        do {
            return try await fetcher.fetch(url, timeout: settings.registerTimeout)
        } catch is HashFetchFailure {
            try await stopwatch.wait(until: caller.now.advanced(by: settings.fetchFloor))
            throw Refusal.hashUnreachable
        }
    }
}
