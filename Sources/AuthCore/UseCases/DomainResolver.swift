/// Looks up what a domain's owner has published in the DNS.
///
/// Throws ``ResolverUnavailable`` when no name server gives a usable answer. The implementation
/// logs the cause.
public protocol DomainResolver: Sendable {
    /// The texts of the TXT records at `name`, each with its strings joined; empty when there are
    /// none or the name does not exist.
    func texts(at name: Domain) async throws -> [String]

    /// The hosts of the MX records at `name`, lower case and without a dot at the end.
    func mailExchangers(of name: Domain) async throws -> [String]
}
