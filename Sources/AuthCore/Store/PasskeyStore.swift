/// Stores the passkeys of users. Atomicity, events and errors as in ``AccountStore``.
public protocol PasskeyStore: Sendable {
    /// Adds the passkey, unless its owner has `limit` of them or its credential is stored already.
    /// - Parameter others: sessions of the owner that end with it, if any; so below.
    func insert(
        _ passkey: Passkey, limit: Int, recording event: AuditEvent, ending others: OtherSessions?
    ) async throws -> PasskeyInsertion

    /// The owner's passkeys in the order of their creation.
    func passkeys(of owner: UserID) async throws -> [Passkey]

    /// The passkey with this credential, and its owner.
    func holder(credential: [UInt8]) async throws -> (passkey: Passkey, owner: User)?

    /// - Returns: `false` when the owner has no such passkey.
    func rename(
        _ id: PasskeyID, of owner: UserID, to name: String, recording event: AuditEvent
    ) async throws -> Bool

    /// Removes a passkey.
    /// - Parameter keepingAccess: whether the last passkey of an owner without a password and
    ///   without identities stays.
    func removePasskey(
        _ id: PasskeyID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> PasskeyRemoval

    /// Stores the signature counter and the time of a use, if the counter may follow the stored
    /// one: it is greater, or both are 0. Of concurrent calls with one counter above 0 exactly one
    /// returns `true`.
    func noteUse(of id: PasskeyID, count: Int64, at now: Instant) async throws -> Bool
}

public enum PasskeyInsertion: Equatable, Sendable {
    case inserted
    /// Another passkey, of this or of another user, has the credential.
    case credentialTaken
    case limitReached
}

public enum PasskeyRemoval: Equatable, Sendable {
    case removed
    /// The owner has no such passkey.
    case missing
    /// Without it the owner could not log in.
    case isLast
}
