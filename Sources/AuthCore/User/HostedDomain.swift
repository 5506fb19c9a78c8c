/// A domain that mailboxes can be made on: the operator's, for everybody or for Pro users only, or
/// one that a Pro user has brought.
public struct HostedDomain: Equatable, Sendable {
    public enum Verification: String, Sendable { case pending, verified, failed }

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
}
