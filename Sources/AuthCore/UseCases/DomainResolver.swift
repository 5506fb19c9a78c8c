public import Networking

/// Looks up the DNS records of a domain's owner.
///
/// Throws ``ResolverUnavailable`` when no name server gives a usable answer. The implementation
/// logs the cause.
public protocol DomainResolver: Sendable {
    /// The texts of the TXT records at `name`, each with its strings joined; empty when there are
    /// none or the name does not exist.
    /// - Parameter client: who asked for it; `nil` for the server itself.
    func texts(at name: Domain, for client: IPAddress?) async throws -> [String]

    /// The hosts of the MX records at `name`, lower case and without a dot at the end.
    /// - Parameter client: as for ``texts(at:for:)``.
    func mailExchangers(of name: Domain, for client: IPAddress?) async throws -> [String]
}
