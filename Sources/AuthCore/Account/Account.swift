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
    public let created: Instant

    public init(
        id: AccountID, address: Address, state: State = .active, credential: Credential,
        credentialVersion: Int64 = 1, created: Instant
    ) {
        self.id = id
        self.address = address
        self.state = state
        self.credential = credential
        self.credentialVersion = credentialVersion
        self.created = created
    }
}

/// What opens an account. An API key belongs to an agent's mailbox; a password, when the accounts
/// surface joins, to a program's.
public enum Credential: Equatable, Sendable {
    case apiKey(APIKeyDigest)
}

/// SHA-256 of an API key: 32 bytes. The key has 256 random bits, so a plain digest is enough to
/// keep a stolen database from opening accounts, and it can be looked up.
public struct APIKeyDigest: Hashable, Sendable {
    public let bytes: [UInt8]

    /// - Parameter bytes: exactly 32.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }
}
