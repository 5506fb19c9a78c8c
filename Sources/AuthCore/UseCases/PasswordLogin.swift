/// Checks the passwords of mailboxes and users: throttles guessing, counts failures, records them.
struct PasswordLogin: UseCases {
    typealias Failure = AccountsError

    let hasher: PasswordHasher
    let throttle: LoginThrottle
    let audit: any AuditLog

    /// - Parameters:
    ///   - hash: `nil` when there is no such account. The check then takes the same time and fails.
    ///   - isAPIKey: whether the caller has found that the secret is the account's API key. Nothing
    ///     is hashed then.
    /// - Returns: a new hash of the same password when the stored one is outdated.
    /// - Throws: ``AccountsError/invalidCredentials`` once the failure is counted and recorded.
    func check(
        _ secret: PasswordSecret, of name: LoginName, against hash: PasswordHash?,
        isAPIKey: Bool = false, by caller: Caller
    ) async throws(AccountsError) -> PasswordHash? {
        do {
            let attempt = try await throttle.begin(name, by: caller)
            guard !isAPIKey else {
                attempt.end(as: .succeeded)
                return nil
            }
            let verdict: PasswordVerdict
            do {
                verdict = try await hasher.verify(secret, against: hash, for: caller.address)
            } catch {
                attempt.end(after: error)
                throw error
            }
            switch verdict {
            case .matches:
                attempt.end(as: .succeeded)
                return nil
            case .matchesButOutdated(let newer):
                attempt.end(as: .succeeded)
                return newer
            case .wrong: attempt.end(as: .failed)
            }
        } catch {
            throw .common(CommonError(error))
        }
        let event = AuditEvent(.loginFailed, by: caller, actor: .anonymous, subject: name.subject)
        try await attempt(await audit.append(event))
        throw .invalidCredentials
    }

    func recordSuccess(
        of name: LoginName, as actor: AuditEvent.Actor, by caller: Caller
    ) async throws(AccountsError) {
        let event = AuditEvent(.loginSucceeded, by: caller, actor: actor, subject: name.subject)
        try await attempt(await audit.append(event))
    }
}
