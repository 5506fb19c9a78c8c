extension AccountsAuth {
    /// Opens an account with its password. A wrong address and a wrong password cost the same and
    /// are refused alike.
    /// - Throws: ``Refusal/invalidCredentials``, or ``Refusal/tooManyRequests(retryAfter:)`` after
    ///   too many failures.
    public func login(
        address text: String, secret: MailboxSecret, by caller: Caller
    ) async throws -> OpenAccount {
        // What is no address has no account; that much anybody can see without asking.
        guard let address = Address(parsing: text) else { throw Refusal.invalidCredentials }
        let found = try await stores.accounts.account(address: address)
        let account = try await verified(
            secret.forHashing(at: address), named: address.description, by: caller,
            against: found.flatMap { $0.state == .active ? $0 : nil })
        return try await open(account, at: caller.now)
    }

    private func verified(
        _ secret: PasswordSecret, named name: String, by caller: Caller, against account: Account?
    ) async throws -> Account {
        let hash = account.flatMap { account in
            if case .password(let hash) = account.credential { hash } else { nil }
        }
        let newer = try await checkPassword(secret, of: .mailbox(name), hash: hash, by: caller)
        guard let account, let hash else { throw Refusal.invalidCredentials }
        if let newer {
            _ = try await stores.accounts.rehash(account.id, from: hash, to: newer)
        }
        try await stores.audit.append(
            AuditEvent(
                .loginSucceeded, by: caller, actor: "account:\(account.id)", subject: name))
        return account
    }

    /// Whose password is checked. A user's email may be a mailbox's address too, and is another's
    /// then: what is guessed of one says nothing of the other.
    enum PasswordHolder {
        case mailbox(String)
        case user(Email)

        /// As the record of events has it.
        var subject: String {
            switch self {
            case .mailbox(let address): address
            case .user(let email): email.text
            }
        }

        /// As failures are counted. No address has a colon.
        var throttled: String {
            switch self {
            case .mailbox(let address): address
            case .user(let email): "user:\(email)"
            }
        }
    }

    /// - Returns: a newer hash of the same password, when the stored one is outdated.
    /// - Throws: ``Refusal/invalidCredentials``, once the failure is counted and recorded.
    func checkPassword(
        _ secret: PasswordSecret, of holder: PasswordHolder, hash: PasswordHash?, by caller: Caller
    ) async throws -> PasswordHash? {
        let name = holder.throttled
        try throttle.admit(account: name, from: caller.client, at: caller.now)
        switch try await hasher.verify(secret, against: hash) {
        case .matches:
            throttle.recordSuccess(account: name, from: caller.client, at: caller.now)
            return nil
        case .matchesButOutdated(let newer):
            throttle.recordSuccess(account: name, from: caller.client, at: caller.now)
            return newer
        case .wrong:
            throttle.recordFailure(
                account: name, secret: secret, from: caller.client, at: caller.now)
            try await stores.audit.append(
                AuditEvent(
                    .loginFailed, by: caller, actor: "anonymous", subject: holder.subject))
            throw Refusal.invalidCredentials
        }
    }
}
