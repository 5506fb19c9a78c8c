internal import Cryptography

public typealias AccountID = Identifier<Account>

/// A mailbox account as it is stored.
///
/// Mailboxes of agents and of the accounts API are rows of one table, so one address is one
/// mailbox.
public struct Account: Equatable, Sendable {
    public enum State: String, Sendable { case active, disabled }

    /// How long a deleted account counts against its owner's limit. Its address is not given out
    /// again, so an owner who makes and deletes accounts uses up addresses.
    public static let retirementPeriod: Duration = .seconds(86_400)

    public let id: AccountID
    public let address: Address
    public var state: State
    /// The digest or hash against which a login is verified.
    public var credential: Credential
    /// Rises whenever the credential is replaced; a token that carries an older version is invalid.
    public var credentialVersion: Int64
    /// The Pro user who owns it; `nil` for agents and free accounts.
    public let owner: UserID?
    /// The greatest size of the mail in the mailbox, in bytes.
    public var quota: Int64
    /// The size of the mail in the mailbox in bytes, as the mail store last reported it.
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

/// The digest or hash against which a login to an account is verified. Never the secret itself.
public enum Credential: Equatable, Sendable {
    /// An agent's mailbox.
    case apiKey(APIKeyDigest)
    /// The mailbox of a program or a person: the hash is over the `auth_key`.
    case password(PasswordHash)
}

/// A password as it is stored: an encoded Argon2id string with its own salt and parameters
/// (`$argon2id$v=19$m=…,t=…,p=…$salt$tag`).
public struct PasswordHash: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The encoded string, for the store.
    public let encoded: String

    /// - Parameter encoded: as a store or a hasher made it; checked where it is verified.
    public init(encoded: String) {
        self.encoded = encoded
    }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// SHA-256 of an API key or an API token: 32 bytes.
///
/// The secret has at least 160 random bits. It therefore cannot be found from a stolen digest, and
/// unlike a salted hash the digest can be looked up.
public struct APIKeyDigest: Hashable, Sendable {
    public let bytes: [UInt8]

    /// - Parameter bytes: exactly 32.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }

    init(of secret: String) {
        self.init(bytes: SHA256.digest(Array(secret.utf8)))
    }
}
