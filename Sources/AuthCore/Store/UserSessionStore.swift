/// Stores the sessions of Pro users. Atomicity, events and errors as in ``AccountStore``.
///
/// A session ends when its row is removed. What raises a user's credential version (logout, a new
/// password, disabling) removes all of the user's sessions in the same transaction.
public protocol UserSessionStore: Sendable {
    /// Adds the session if the owner is active and has the credential version `version`, so that no
    /// login outlives a change of the credentials that it was checked against. Of the owner's other
    /// sessions at most `limit - 1` are kept: those that were used last.
    /// - Parameters:
    ///   - hasSecondFactor: whether the login needs no second factor, or had it. Otherwise nothing
    ///     is added for an owner with one-time codes (``SecondFactorStore``), also if they are
    ///     turned on at the same time.
    ///   - event: recorded with the session, if there is one.
    func insert(
        _ session: UserSession, at version: Int64, hasSecondFactor: Bool, limit: Int,
        recording event: AuditEvent?
    ) async throws -> UserSessionInsertion

    /// The session and its owner; `nil` when it has ended. One query, because every request with a
    /// Pro JWT needs it.
    func holder(of id: UserSessionID) async throws -> (session: UserSession, owner: User)?

    /// The owner's sessions that have not expired at `now`, those that were used last first.
    func sessions(of owner: UserID, at now: Instant) async throws -> [UserSession]

    /// Ends one session.
    /// - Returns: `false` when the owner has no such session.
    func endSession(
        _ id: UserSessionID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool

    /// Ends all sessions of the owner but one.
    /// - Returns: `false` when there was no other; then no event is recorded.
    func endSessions(
        of owner: UserID, except id: UserSessionID, recording event: AuditEvent
    ) async throws -> Bool

    /// Stores `now` as the time of the last use, unless a use at or after `since` is stored. Does
    /// nothing when the session has ended.
    func noteUse(of id: UserSessionID, at now: Instant, unlessSince since: Instant) async throws

    /// Removes at most `limit` sessions that expired before `instant`.
    /// - Returns: how many were removed.
    func sweepSessions(before instant: Instant, limit: Int) async throws -> Int
}

public enum UserSessionInsertion: Equatable, Sendable {
    case inserted
    /// The owner is disabled or has another credential version.
    case rejected
    case secondFactorRequired
}

/// The end of a user's other sessions in the transaction of the change that causes it: that of a
/// credential other than the password.
public struct OtherSessions: Sendable {
    /// The session that stays.
    public let kept: UserSessionID
    /// Recorded if there are others.
    public let event: AuditEvent

    public init(than kept: UserSessionID, recording event: AuditEvent) {
        self.kept = kept
        self.event = event
    }
}
