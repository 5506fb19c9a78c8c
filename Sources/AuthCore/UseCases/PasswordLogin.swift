/// Checks the passwords of mailboxes and users: throttles guessing, counts failures, records them.
struct PasswordLogin: UseCases {
    typealias Failure = AccountsError

    /// The owner of the password. A user's email may be the address of another person's mailbox, so
    /// failures of the two are counted separately.
    enum Owner {
        case mailbox(Address)
        case user(Email)

        /// The subject of audit events.
        var subject: String {
            switch self {
            case .mailbox(let address): address.description
            case .user(let email): email.text
            }
        }

        /// The name under which failures are counted. No address contains a colon.
        var throttleKey: String {
            switch self {
            case .mailbox(let address): address.description
            case .user(let email): "user:\(email)"
            }
        }
    }

    let hasher: PasswordHasher
    let throttle: LoginThrottle
    let audit: any AuditLog

    /// - Parameter hash: `nil` when there is no such account. The check then takes the same time
    ///   and fails.
    /// - Returns: a new hash of the same password when the stored one is outdated.
    /// - Throws: ``AccountsError/invalidCredentials`` once the failure is counted and recorded.
    func check(
        _ secret: PasswordSecret, of owner: Owner, against hash: PasswordHash?,
        by caller: Caller
    ) async throws(AccountsError) -> PasswordHash? {
        let key = owner.throttleKey
        try attemptNow(try throttle.check(account: key, from: caller.address, at: caller.now))
        switch try await attempt(
            await hasher.verify(secret, against: hash, for: caller.address))
        {
        case .matches:
            throttle.recordSuccess(account: key, from: caller.address, at: caller.now)
            return nil
        case .matchesButOutdated(let newer):
            throttle.recordSuccess(account: key, from: caller.address, at: caller.now)
            return newer
        case .wrong:
            throttle.recordFailure(
                account: key, secret: secret, from: caller.address, at: caller.now)
            let event = AuditEvent(
                .loginFailed, by: caller, actor: .anonymous, subject: owner.subject)
            try await attempt(await audit.append(event))
            throw .invalidCredentials
        }
    }

    func recordSuccess(
        of owner: Owner, as actor: AuditEvent.Actor, by caller: Caller
    ) async throws(AccountsError) {
        let event = AuditEvent(.loginSucceeded, by: caller, actor: actor, subject: owner.subject)
        try await attempt(await audit.append(event))
    }
}
