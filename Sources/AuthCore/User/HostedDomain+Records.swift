internal import Cryptography

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
    /// A domain that a user brings. Nothing can be made on it until it is verified.
    /// - Parameter random: gives so many random bytes, fit for keys.
    /// - Returns: `nil` for a name without a dot, or too long for its TXT record to have a host.
    public init?(
        _ name: Domain, of owner: UserID, at now: Instant,
        random: @Sendable (Int) -> [UInt8]
    ) {
        guard name.text.utf8.contains(UInt8(ascii: ".")),
            Self.textHost(of: name).utf8.count <= Domain.maximumOctets
        else { return nil }
        self.init(
            id: DomainID(random: random(16)), name: name, owner: owner,
            verifyToken: Base64URL.encode(random(24)), created: now)
    }

    /// What the owner has to publish: a TXT record that proves control, and an MX record that
    /// brings the mail here.
    public func records(exchanger: Domain) -> [DNSRecord] {
        [
            DNSRecord(kind: .txt, host: textHost, value: textValue, priority: nil),
            DNSRecord(kind: .mx, host: name.text, value: exchanger.text, priority: 10),
        ]
    }

    var textHost: String { Self.textHost(of: name) }

    var textValue: String { "postern-verify=\(verifyToken)" }

    private static func textHost(of name: Domain) -> String { "postern-verify.\(name)" }
}
