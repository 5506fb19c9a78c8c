/// Stores the registrations of the hash-login API. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol HashLoginStore: Sendable {
    /// Adds the registration. When an earlier one of the email was deleted, the version of this one
    /// is higher, so that its tokens stay invalid.
    /// - Returns: `false` when the email is registered already.
    func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool

    func hashLogin(email: Email) async throws -> HashLogin?

    /// Raises the credential version by one, which makes every earlier token invalid.
    /// - Parameter version: when given, the version is raised only if it is this one.
    /// - Returns: `false` when nothing was changed.
    func endLogins(of email: Email, at version: Int64?, recording event: AuditEvent) async throws
        -> Bool
}

/// The operator's access to registrations of the hash-login API. Atomicity and errors as in
/// ``AccountStore``.
public protocol HashLoginDirectory: Sendable {
    /// At most `limit` registrations in email order, after `email` or from the first when it is
    /// `nil`.
    func hashLogins(after email: Email?, limit: Int) async throws -> [HashLogin]

    /// Deletes the registration. Its tokens become invalid, and the email can be registered again.
    /// - Returns: `false` when there is none.
    func deleteHashLogin(of email: Email, recording event: AuditEvent) async throws -> Bool
}
