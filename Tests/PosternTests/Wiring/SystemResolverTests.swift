import AuthCore
import Fetching
import Networking
import Testing

@testable import postern

@Suite struct SystemResolverTests {
    @Test func everyDNSFailureIsATimeoutForTheCaller() async throws {
        // No server listens there, and the time is too short to find out.
        let server = SocketAddress(.loopback, port: 9)
        let resolver = SystemResolver(
            client: DNSClient(servers: [server], timeout: .milliseconds(1)))
        let name = try #require(Domain(parsing: "name.test"))
        await #expect(throws: DomainResolverTimeout.self) {
            _ = try await resolver.texts(at: name)
        }
        await #expect(throws: DomainResolverTimeout.self) {
            _ = try await resolver.mailExchangers(of: name)
        }
    }
}
