/// Stores the one-time codes and the recovery codes of users. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol SecondFactorStore: Sendable {
    /// Turns one-time codes on, with these recovery codes instead of any earlier ones.
    /// - Parameter others: sessions of the owner that end with it, if any; so below.
    /// - Returns: `false` when the owner has one-time codes.
    func insert(
        _ totp: StoredTOTP, recoveryCodes: [APIKeyDigest], recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> Bool

    /// Turns one-time codes off and removes the recovery codes.
    /// - Returns: `false` when the owner has no one-time codes.
    func removeTOTP(
        of owner: UserID, recording event: AuditEvent, ending others: OtherSessions?
    ) async throws -> Bool

    func factors(of owner: UserID) async throws -> Factors

    /// Counts a guess at a one-time code, by the rule of ``CodeGuesses``, before the code is
    /// checked: concurrent guesses are counted like consecutive ones.
    func beginGuess(of owner: UserID, at now: Instant) async throws -> CodeGuess

    /// Stores `step` as the last one and takes the guess back, if the stored step is earlier and
    /// the one-time codes are still the same. Of concurrent calls with one step, on any number of
    /// servers, exactly one returns `true`.
    /// - Parameter totp: as it was read for the guess. Codes that were turned off and on since have
    ///   another time.
    func acceptCode(at step: Int64, of totp: StoredTOTP) async throws -> Bool

    /// Replaces the owner's recovery codes.
    /// - Returns: `false` when the owner has no one-time codes.
    func replaceRecoveryCodes(
        of owner: UserID, by digests: [APIKeyDigest], recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> Bool

    /// Removes a recovery code. Of concurrent calls with one code exactly one returns `true`.
    func spendRecoveryCode(
        _ digest: APIKeyDigest, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool
}
