internal import AuthCore

/// The DNS as this machine is configured to ask it.
struct SystemResolver: DomainResolver {
    func texts(at name: Domain) async throws -> [String] { throw DomainResolverTimeout() }

    func mailExchangers(of name: Domain) async throws -> [String] { throw DomainResolverTimeout() }
}
