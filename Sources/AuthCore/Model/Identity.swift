public typealias IdentityID = Identifier<Identity>

/// Who a user is at an identity provider: a credential with which the user logs in.
public struct Identity: Equatable, Sendable {
    public let id: IdentityID
    public let owner: UserID
    /// The name that the operator gave the provider.
    public let provider: String
    /// The provider's own name: an OpenID Connect issuer, or the URL of GitHub's API. No two
    /// identities have the same issuer and subject. A user has one identity of an issuer.
    public let issuer: String
    /// Who it is at the provider.
    public let subject: String
    /// As the provider gave it at the last login, for people to recognise the identity. Nothing
    /// follows from it.
    public let email: String?
    public let created: Instant
    public let lastUsed: Instant?

    public init(
        id: IdentityID, owner: UserID, provider: String, issuer: String, subject: String,
        email: String?, created: Instant, lastUsed: Instant? = nil
    ) {
        self.id = id
        self.owner = owner
        self.provider = provider
        self.issuer = issuer
        self.subject = subject
        self.email = email
        self.created = created
        self.lastUsed = lastUsed
    }

    /// The subject of the events about it.
    public func eventSubject(of owner: Email) -> String { "\(owner) \(provider)" }

    /// At most 254 bytes of printable ASCII, for people.
    static func printable(email: String) -> String {
        String(
            decoding: email.utf8.lazy.filter { (0x21...0x7e).contains($0) }.prefix(254),
            as: UTF8.self)
    }
}
