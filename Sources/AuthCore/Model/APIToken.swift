public typealias APITokenID = Identifier<APIToken>

/// A Pro API token as it is stored: by digest, never the secret.
public struct APIToken: Equatable, Sendable {
    /// The permissions of a token. Reading the user (`/api/user/me`) needs no scope.
    public enum Scope: String, CaseIterable, Sendable {
        /// The user's mailboxes: create, list, show, reset, delete.
        case accounts
        /// The user's domains.
        case domains
        /// The user's own credentials: API tokens, password, logout.
        case tokens
    }

    /// The credential with which the owner created the token.
    public enum Issuer: Equatable, Sendable {
        /// A Pro JWT of this credential version of the owner.
        case session(version: Int64)
        /// Another API token of the owner.
        case token(APITokenID)
    }

    /// API tokens begin with this text; no other token does.
    public static let prefix = "tm_pro_"
    /// Longer texts are not looked up.
    static let maximumSecretBytes = 256
    public static let maximumNameBytes = 200

    public let id: APITokenID
    public let owner: UserID
    public let name: String
    public let digest: APIKeyDigest
    public let scopes: Set<Scope>
    public let created: Instant
    /// `nil` for a token without an expiry.
    public let expiry: Instant?
    /// Written at most once a minute.
    public var lastUsed: Instant?
    public var revoked: Instant?

    public init(
        id: APITokenID, owner: UserID, name: String, digest: APIKeyDigest,
        scopes: Set<Scope> = Scope.all, created: Instant, expiry: Instant? = nil,
        lastUsed: Instant? = nil, revoked: Instant? = nil
    ) {
        self.id = id
        self.owner = owner
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.created = created
        self.expiry = expiry
        self.lastUsed = lastUsed
        self.revoked = revoked
    }
}

extension APIToken.Scope {
    public static let all = Set(allCases)
}
