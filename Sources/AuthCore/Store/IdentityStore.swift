/// Stores the identities of users at identity providers. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol IdentityStore: Sendable {
    /// Adds the identity if its owner is active and has the credential version `version`, so that
    /// no identity outlives a change of the credentials that the user had logged in with. Of
    /// concurrent calls with one issuer and subject, for any users, exactly one adds it.
    /// - Parameter others: sessions of the owner that end with it, if any; so below.
    func insert(
        _ identity: Identity, at version: Int64, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> IdentityInsertion

    /// Adds a user and the user's identity: both or none.
    func insert(
        _ user: User, with identity: Identity, recording event: AuditEvent
    ) async throws -> IdentityInsertion

    /// The owner's identities in the order of their creation.
    func identities(of owner: UserID) async throws -> [Identity]

    /// The identity with this issuer and subject, and its owner.
    func holder(issuer: String, subject: String) async throws -> (
        identity: Identity, owner: User
    )?

    /// Stores the time of a use, with the provider's name and the email of that time.
    func noteUse(
        of id: IdentityID, provider: String, email: String?, at now: Instant
    ) async throws

    /// Removes an identity.
    /// - Parameter keepingAccess: whether the last identity of an owner without a password and
    ///   without passkeys stays.
    func removeIdentity(
        _ id: IdentityID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> IdentityRemoval
}

public enum IdentityInsertion: Equatable, Sendable {
    case inserted
    /// The owner is disabled or has another credential version.
    case rejected
    /// An identity with this issuer and subject is stored, of this or of another user.
    case identityTaken
    /// The owner has another identity of this issuer.
    case providerTaken
    /// Another user has the email of the new one.
    case emailTaken
}

public enum IdentityRemoval: Equatable, Sendable {
    case removed
    /// The owner has no such identity.
    case missing
    /// Without it the owner could not log in.
    case isLast
}
