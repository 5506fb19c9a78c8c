/// Stores the registrations of the hash-login API. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol HashLoginStore: Sendable {
    /// Adds the registration.
    /// - Returns: `false` when the email is registered already.
    func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool

    func hashLogin(email: Email) async throws -> HashLogin?

    /// Raises the credential version by one, which makes every earlier token invalid.
    /// - Parameter version: when given, the version is raised only if it is this one.
    /// - Returns: `false` when nothing was changed.
    func endLogins(of email: Email, at version: Int64?, recording event: AuditEvent) async throws
        -> Bool
}
