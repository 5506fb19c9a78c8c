internal import Cryptography

public typealias DomainID = Identifier<HostedDomain>

/// A domain that mailboxes can be created on: the operator's (for everybody, or for Pro users only)
/// or one that a Pro user added.
///
/// A name is verified for one owner at most. Until then any number of users may claim it, so that a
/// claim does not prevent the owner of the name from verifying it.
public struct HostedDomain: Equatable, Sendable {
    public enum Verification: String, Sendable { case pending, verified, failed }

    /// How often the TXT record of a verified domain is looked up again.
    public static let checkInterval: Duration = .seconds(86_400)
    /// How long a domain stays verified while its record is missing.
    public static let gracePeriod: Duration = .seconds(7 * 86_400)

    public let id: DomainID
    public let name: Domain
    /// `nil` for the operator's domains.
    public let owner: UserID?
    public let isProOnly: Bool
    public var verification: Verification
    /// The token in the TXT record; empty for the operator's domains.
    public let verifyToken: String
    public var verified: Instant?
    /// Whether the last check found the MX record.
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

/// A DNS record that a domain's owner has to publish.
public struct DNSRecord: Equatable, Sendable {
    public enum Kind: String, Sendable { case txt = "TXT", mx = "MX" }

    public let kind: Kind
    public let host: String
    public let value: String
    /// Of an MX record.
    public let priority: Int?
}

extension HostedDomain {
    /// A domain that a user adds. No mailbox can be created on it until it is verified.
    /// - Parameter random: returns that many random bytes, fit for keys.
    /// - Returns: `nil` for a name without a dot, an IPv4 address, or a name that is too long for
    ///   its TXT record to have a host name.
    public init?(
        _ name: Domain, of owner: UserID, at now: Instant,
        random: @Sendable (Int) -> [UInt8]
    ) {
        guard name.text.utf8.contains(UInt8(ascii: ".")), !name.endsInNumber,
            Self.textHost(of: name).utf8.count <= Domain.maximumBytes
        else { return nil }
        self.init(
            id: DomainID(random: random(16)), name: name, owner: owner,
            verifyToken: Base64URL.encode(random(24)), created: now)
    }

    /// The records that the owner has to publish: a TXT record that proves control, and an MX
    /// record that directs the domain's mail to this server's operator.
    public func records(exchanger: Domain) -> [DNSRecord] {
        [
            DNSRecord(kind: .txt, host: textHost, value: textValue, priority: nil),
            DNSRecord(kind: .mx, host: name.text, value: exchanger.text, priority: 10),
        ]
    }

    var textHost: String { Self.textHost(of: name) }

    var textValue: String { "postern-verify=\(verifyToken)" }

    /// Whether a TXT record is the proof. By bytes: the text is of an unknown server.
    func isProved(by text: String) -> Bool { text.utf8.elementsEqual(textValue.utf8) }

    private static func textHost(of name: Domain) -> String { "postern-verify.\(name)" }
}
