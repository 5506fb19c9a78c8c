import AuthCore
import Dispatch
import Fetching
import Glibc
import Synchronization
import Testing

@testable import postern

@Suite(.timeLimit(.minutes(5))) struct GuardedHashFetcherTests {
    private static let settings: HashLoginSection = {
        var settings = HashLoginSection()
        settings.allowHTTP = true
        settings.allowPrivateNetworks = true
        settings.ports = []
        return settings
    }()

    private func fetcher(
        _ settings: HashLoginSection = settings, limits: FetchLimits = FetchLimits(),
        log: @escaping @Sendable (String, String) -> Void = { _, _ in }
    ) -> GuardedHashFetcher {
        GuardedHashFetcher(settings, limits: limits, log: log)
    }

    @Test func theRulesOfTheConfigurationApplyToAURL() {
        let strict = fetcher(HashLoginSection())
        #expect(strict.url(parsing: "https://EXAMPLE.com:443")?.text == "https://example.com/")
        for text in ["http://example.com/", "https://example.com:8443/", "https://a@example.com/"] {
            #expect(strict.url(parsing: text) == nil)
        }
        #expect(fetcher().url(parsing: "http://localhost:8080/h") != nil)
    }

    /// The rules may have changed since the URL was registered.
    @Test func aURLThatTheRulesNoLongerAllowIsNotFetched() async {
        await #expect(throws: HashFetchFailure.self) {
            try await fetcher(HashLoginSection()).fetch(
                HashURL(text: "http://127.0.0.1/"), timeout: .seconds(5))
        }
    }

    @Test func theLogGetsTheCauseAndTheOriginOfTheURLOnly() async {
        let logged = Mutex<[String]>([])
        let fetcher = fetcher(HashLoginSection()) { cause, origin in
            logged.withLock { $0 += [cause, origin] }
        }
        await #expect(throws: HashFetchFailure.self) {
            try await fetcher.fetch(
                HashURL(text: "https://127.0.0.1/secret?key=1"), timeout: .seconds(5))
        }
        #expect(
            logged.withLock { $0 } == [
                "the address 127.0.0.1 may not be connected to (loopback, RFC 1122 §3.2.1.3)",
                "https://127.0.0.1",
            ])
    }

    @Test func aFetchBeyondTheLimitIsBusyWithATimeToRetry() async throws {
        let busy = Refusal.busy(retryAfter: .seconds(2))
        let logged = Mutex<[String]>([])
        var limits = FetchLimits()
        limits.transfers = 1
        limits.waiting = 0
        let fetcher = fetcher(limits: limits) { cause, _ in logged.withLock { $0.append(cause) } }
        try fetcher.demandRoom()
        let host = try #require(SilentServer())
        let slow = Task {
            try await fetcher.fetch(
                HashURL(text: "http://127.0.0.1:\(host.port)/"), timeout: .seconds(30))
        }
        await host.awaitConnection()
        #expect(throws: busy) { try fetcher.demandRoom() }
        await #expect(throws: busy) {
            try await fetcher.fetch(HashURL(text: "http://127.0.0.2/"), timeout: .seconds(5))
        }
        #expect(logged.withLock { $0 } == ["too many fetches are waiting (transfer queue)"])
        host.closeConnection()
        await #expect(throws: HashFetchFailure.self) { try await slow.value }
    }
}

/// Accepts one connection on the loopback address and never answers.
private final class SilentServer: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let connection = Mutex<Int32>(-1)

    init?() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { raw in
            guard let base = raw.baseAddress else { return false }
            let generic = base.assumingMemoryBound(to: sockaddr.self)
            return bind(descriptor, generic, length) == 0 && listen(descriptor, 1) == 0
                && getsockname(descriptor, generic, &length) == 0
        }
        guard isListening else {
            close(descriptor)
            return nil
        }
        port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
    }

    func awaitConnection() async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "silent").async {
                let taken = accept(self.descriptor, nil, nil)
                self.connection.withLock { $0 = taken }
                continuation.resume()
            }
        }
    }

    func closeConnection() {
        connection.withLock { taken in
            close(taken)
            taken = -1
        }
    }

    deinit {
        close(descriptor)
    }
}
