/// Where registrations of the hash-login surface live. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol HashLoginStore: Sendable {
    /// Adds the registration; `false` when the email is taken.
    func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool

    func hashLogin(email: Email) async throws -> HashLogin?

    /// Moves the credential version on by one: every token made before is dead.
    /// - Parameter version: when given, only if the version still is this one.
    /// - Returns: `false` when nothing moved.
    func endLogins(of email: Email, at version: Int64?, recording event: AuditEvent) async throws
        -> Bool
}
