internal import AuthCore
internal import Fetching

/// The DNS as AuthCore uses it.
///
/// When a name server does not answer, fails or rejects the query, or the queue is full, the client
/// should try again later. The cause is logged.
struct SystemResolver: DomainResolver {
    let client: DNSClient
    let report: @Sendable (RemoteFailure) -> Void

    func texts(at name: Domain) async throws -> [String] {
        try await asking(for: name) { try await client.texts(at: name.text) }
    }

    func mailExchangers(of name: Domain) async throws -> [String] {
        try await asking(for: name) { try await client.mailExchangers(of: name.text) }
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
