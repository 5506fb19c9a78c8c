import AuthCore
import Fetching
import Networking
import Synchronization
import Testing

@testable import postern

@Suite struct SystemResolverTests {
    @Test func everyDNSFailureIsReportedAndMeansTryAgain() async throws {
        // No server listens there, and the time is too short to find out.
        let server = SocketAddress(.loopback, port: 9)
        let causes = Mutex<[String]>([])
        let resolver = SystemResolver(
            dns: DNSClient(servers: [server], timeout: .milliseconds(1)),
            report: { failure in causes.withLock { $0.append("\(failure)") } })
        let name = try #require(Domain(parsing: "name.test"))
        await #expect(throws: ResolverUnavailable.self) {
            _ = try await resolver.texts(at: name, for: nil)
        }
        await #expect(throws: ResolverUnavailable.self) {
            _ = try await resolver.mailExchangers(of: name, for: nil)
        }
        #expect(causes.withLock { $0.count } == 2)
        #expect(causes.withLock { $0.allSatisfy { $0.contains("name.test") } })
    }
}
