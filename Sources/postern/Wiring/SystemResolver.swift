internal import AuthCore
internal import Fetching

/// The DNS as AuthCore asks it.
///
/// Whatever keeps an answer from coming is worth another try, to the caller: a nameserver that is
/// silent, broken or refuses, as much as a queue that is full.
struct SystemResolver: DomainResolver {
    let client: DNSClient

    func texts(at name: Domain) async throws -> [String] {
        try await asking { try await client.texts(at: name.text) }
    }

    func mailExchangers(of name: Domain) async throws -> [String] {
        try await asking { try await client.mailExchangers(of: name.text) }
    }

    private func asking(_ body: () async throws -> [String]) async throws -> [String] {
        do {
            return try await body()
        } catch is DNSError {
            throw DomainResolverTimeout()
        }
    }
}
