internal import AuthCore
internal import Fetching
internal import Networking

/// The DNS as AuthCore uses it.
///
/// When a name server does not answer, fails or rejects the query, or the queue is full, the client
/// should try again later. The cause is logged.
struct SystemResolver: DomainResolver {
    let dns: DNSClient
    let report: @Sendable (RemoteFailure) -> Void

    func texts(at name: Domain, for client: IPAddress?) async throws -> [String] {
        try await asking(for: name) { try await dns.texts(at: name.text, for: client) }
    }

    func mailExchangers(of name: Domain, for client: IPAddress?) async throws -> [String] {
        try await asking(for: name) { try await dns.mailExchangers(of: name.text, for: client) }
    }

    private func asking(
        for name: Domain, _ body: () async throws -> [String]
    ) async throws -> [String] {
        do {
            return try await body()
        } catch let error as DNSError {
            report(.lookUp(name: name.text, cause: "\(error)"))
            throw ResolverUnavailable(cause: "\(error)")
        }
    }
}
