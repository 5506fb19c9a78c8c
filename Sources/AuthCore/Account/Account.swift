/// A mailbox account as it is stored.
///
/// Agents' mailboxes and accounts' mailboxes are rows of one table, so one address is one mailbox.
public struct Account: Equatable, Sendable {
    public enum State: String, Sendable { case active, disabled }

    public let id: AccountID
    public let address: Address
    public var state: State
    /// What the account can be opened with. Never the secret itself.
    public var credential: Credential
    /// Moves whenever the credential is replaced, so every token that carries an older one dies.
    public var credentialVersion: Int64
    /// The Pro user it belongs to; `nil` for agents and free accounts.
    public let owner: UserID?
    /// Bytes of mail that it may hold.
    public var quota: Int64
    /// Bytes of mail that it holds, as the mail store last reported.
    public var used: Int64
    public let created: Instant

    public init(
        id: AccountID, address: Address, state: State = .active, credential: Credential,
        credentialVersion: Int64 = 1, owner: UserID? = nil, quota: Int64, used: Int64 = 0,
        created: Instant
    ) {
        self.id = id
        self.address = address
        self.state = state
        self.credential = credential
        self.credentialVersion = credentialVersion
        self.owner = owner
        self.quota = quota
        self.used = used
        self.created = created
    }
}

/// What opens an account.
public enum Credential: Equatable, Sendable {
    /// An agent's mailbox.
    case apiKey(APIKeyDigest)
    /// A program's or a person's mailbox: the hash is over the `auth_key`.
    case password(PasswordHash)
}

/// SHA-256 of an API key or an API token: 32 bytes. The secret has at least 160 random bits, so a
/// plain digest is enough to keep a stolen database from opening anything, and it can be looked
/// up.
public struct APIKeyDigest: Hashable, Sendable {
    public let bytes: [UInt8]

    /// - Parameter bytes: exactly 32.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }
}
