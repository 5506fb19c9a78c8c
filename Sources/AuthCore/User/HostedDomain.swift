/// A domain that mailboxes can be made on: the operator's, for everybody or for Pro users only, or
/// one that a Pro user has brought.
public struct HostedDomain: Equatable, Sendable {
    public enum Verification: String, Sendable { case pending, verified, failed }

    /// How long a name is kept for a user who has not proved that it is theirs; after that another
    /// user may bring it. Without an end anybody could keep a domain from its owner.
    public static let claimLifetime: Duration = .seconds(7 * 86_400)

    public let id: DomainID
    public let name: Domain
    /// `nil` for the operator's domains.
    public let owner: UserID?
    public let isProOnly: Bool
    public var verification: Verification
    /// What the TXT record must carry; empty for the operator's domains.
    public let verifyToken: String
    public var verified: Instant?
    /// Whether the last look found the MX record.
    public var hasMX: Bool
    public let created: Instant

    public init(
        id: DomainID, name: Domain, owner: UserID?, isProOnly: Bool = false,
        verification: Verification = .pending, verifyToken: String, verified: Instant? = nil,
        hasMX: Bool = false, created: Instant
    ) {
        self.id = id
        self.name = name
        self.owner = owner
        self.isProOnly = isProOnly
        self.verification = verification
        self.verifyToken = verifyToken
        self.verified = verified
        self.hasMX = hasMX
        self.created = created
    }

    /// Whether a user's claim gives way to `other`, which somebody else brings.
    public func givesWay(to other: HostedDomain) -> Bool {
        owner != nil && owner != other.owner && verification != .verified
            && created.advanced(by: Self.claimLifetime) <= other.created
    }
}
