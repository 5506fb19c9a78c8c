/// Stores the links that were sent to users. Atomicity, events and errors as in ``AccountStore``.
///
/// What raises a user's credential version (logout, a new password, disabling) removes the user's
/// links that set a password in the same transaction.
public protocol EmailLinkStore: Sendable {
    /// Adds the link if its owner is active and has the credential version `version`.
    /// - Parameter event: recorded with the link, if there is one.
    func insert(
        _ link: EmailLink, at version: Int64, recording event: AuditEvent?
    ) async throws -> Bool

    /// A link that has not been used and has not expired at `now`, and its owner.
    func emailLink(
        _ digest: APIKeyDigest, at now: Instant
    ) async throws -> (link: EmailLink, owner: User)?

    /// Uses a link that sets a password: removes it, replaces the password and raises the
    /// credential version by one. If the link was sent to the email, the email is verified from
    /// the time of `event` on, unless it was before. Of concurrent calls with one link, on any
    /// number of servers, exactly one returns `true`.
    /// - Parameters:
    ///   - owner: as ``emailLink(_:at:)`` has returned it.
    ///   - revokingTokens: as in ``UserStore``.
    ///   - removingCredentials: whether the owner's passkeys, one-time codes, recovery codes,
    ///     identities and webhook are removed.
    /// - Returns: `false` when the link was used, has expired at the time of `event`, or its owner
    ///   is not active.
    func resetPassword(
        by digest: APIKeyDigest, of owner: UserID, to password: PasswordHash,
        revokingTokens: Bool, removingCredentials: Bool, recording event: AuditEvent
    ) async throws -> Bool

    /// Uses a link that verifies the email: removes it and the owner's others, and stores the time
    /// of `event`. Otherwise as the reset.
    func verifyEmail(
        by digest: APIKeyDigest, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool

    /// Removes at most `limit` links that expired before `instant`.
    /// - Returns: how many were removed.
    func sweepEmailLinks(before instant: Instant, limit: Int) async throws -> Int
}
