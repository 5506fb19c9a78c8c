/// Looks up what a domain's owner has published. Blocking look-ups run on a pool of their own.
public protocol DomainResolver: Sendable {
    /// The texts of the TXT records at `name`, each with its strings joined; empty when there are
    /// none or the name does not exist.
    /// - Throws: ``DomainResolverTimeout``, or what else the DNS came to.
    func texts(at name: Domain) async throws -> [String]

    /// The hosts of the MX records at `name`, lower case and without a dot at the end.
    func mailExchangers(of name: Domain) async throws -> [String]
}

/// The DNS did not answer in time.
public struct DomainResolverTimeout: Error, Sendable {
    public init() {}
}
