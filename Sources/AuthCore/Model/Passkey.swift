public typealias PasskeyID = Identifier<Passkey>

/// A credential of WebAuthn with which a user logs in.
public struct Passkey: Equatable, Sendable {
    /// Passkeys of one user.
    public static let limit = 20
    public static let maximumNameBytes = 100

    public let id: PasskeyID
    public let owner: UserID
    /// Chosen by the user.
    public let name: String
    /// The credential's id, which the authenticator has chosen. No two passkeys have the same.
    public let credential: [UInt8]
    /// SubjectPublicKeyInfo as PEM.
    public let publicKey: String
    /// That of the last use; 0 while the authenticator does not count.
    public let signatureCount: Int64
    /// Whether the passkey can be on several devices of the user.
    public let isSynced: Bool
    public let created: Instant
    public let lastUsed: Instant?

    public init(
        id: PasskeyID, owner: UserID, name: String, credential: [UInt8], publicKey: String,
        signatureCount: Int64, isSynced: Bool, created: Instant, lastUsed: Instant? = nil
    ) {
        self.id = id
        self.owner = owner
        self.name = name
        self.credential = credential
        self.publicKey = publicKey
        self.signatureCount = signatureCount
        self.isSynced = isSynced
        self.created = created
        self.lastUsed = lastUsed
    }
}
