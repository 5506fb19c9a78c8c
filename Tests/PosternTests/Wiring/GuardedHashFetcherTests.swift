import AuthCore
import Dispatch
import Fetching
import Glibc
import Networking
import Synchronization
import Testing

@testable import Configuration
@testable import postern

@Suite(.timeLimit(.minutes(10))) struct GuardedHashFetcherTests {
    private static let settings: HashLoginSection = {
        var settings = HashLoginSection()
        settings.allowHTTP = true
        settings.allowPrivateNetworks = true
        settings.ports = []
        return settings
    }()

    private func fetcher(
        _ settings: HashLoginSection = settings,
        limits: GuardedHashFetcher.Limits = .init(areShared: true),
        report: @escaping @Sendable (RemoteFailure) -> Void = { _ in }
    ) -> GuardedHashFetcher {
        GuardedHashFetcher(settings, limits: limits, report: report)
    }

    @Test func theRulesOfTheConfigurationApplyToAURL() {
        let strict = fetcher(HashLoginSection())
        #expect(strict.source("https://EXAMPLE.com:443")?.url.text == "https://example.com/")
        for text in ["http://example.com/", "https://example.com:8443/", "https://a@example.com/"] {
            #expect(strict.source(text) == nil)
        }
        #expect(fetcher().source("http://localhost:8080/h") != nil)
    }

    @Test func theLogGetsTheCauseAndTheOriginOfTheURLOnly() async throws {
        let failures = Mutex<[RemoteFailure]>([])
        let fetcher = fetcher(HashLoginSection()) { failure in
            failures.withLock { $0.append(failure) }
        }
        let source = try #require(fetcher.source("https://127.0.0.1/secret?key=1"))
        await #expect(throws: HashFetchFailure.self) {
            try await source.fetch(for: .login, by: .loopback, before: .now + .seconds(300))
        }
        guard case .forbiddenAddress(let origin, let cause)? = failures.withLock({ $0.first })
        else {
            Issue.record("nothing was reported")
            return
        }
        #expect(origin == "https://127.0.0.1")
        #expect(
            cause == "the address 127.0.0.1 may not be connected to (loopback, RFC 1122 §3.2.1.3)")
    }

    @Test func aFetchBeyondTheLimitIsBusyWithATimeToRetry() async throws {
        let failures = Mutex<[RemoteFailure]>([])
        var limits = GuardedHashFetcher.Limits(areShared: true)
        limits.logins.transfers = 1
        limits.logins.waiting = 0
        let fetcher = fetcher(limits: limits) { failure in
            failures.withLock { $0.append(failure) }
        }
        try fetcher.checkQueue(for: .loopback)
        let host = try #require(SilentServer())
        let held = try #require(fetcher.source("http://127.0.0.1:\(host.port)/"))
        let slow = Task {
            try await held.fetch(for: .login, by: .loopback, before: .now + .seconds(300))
        }
        await host.awaitConnection()
        #expect(
            Self.wait { () throws(CommonError) in try fetcher.checkQueue(for: .loopback) }
                == .seconds(2))
        let next = try #require(fetcher.source("http://127.0.0.2/"))
        let error = await #expect(throws: CommonError.self) {
            try await next.fetch(for: .login, by: .loopback, before: .now + .seconds(300))
        }
        guard case .busy(retryAfter: .seconds(2))? = error else {
            Issue.record("not busy: \(String(describing: error))")
            return
        }
        guard case .fetch(_, let cause)? = failures.withLock({ $0.first }) else {
            Issue.record("nothing was reported")
            return
        }
        #expect(cause == "too many fetches are waiting (transfer queue)")
        host.closeConnection()
        await #expect(throws: HashFetchFailure.self) { try await slow.value }
    }

    @Test func registrationsThatFillTheirThreadsDelayNoLogin() async throws {
        var limits = GuardedHashFetcher.Limits(areShared: true)
        limits.registrations.transfers = 1
        limits.registrations.waiting = 0
        let fetcher = fetcher(limits: limits)
        let host = try #require(SilentServer())
        let source = try #require(fetcher.source("http://127.0.0.1:\(host.port)/"))
        let slow = Task {
            try await source.fetch(
                for: .registration, by: .loopback, before: .now + .seconds(300))
        }
        await host.awaitConnection()
        try fetcher.checkQueue(for: .loopback)
        let other = try #require(fetcher.source("http://127.0.0.2:1/"))
        // Nothing listens there; it was asked all the same.
        await #expect(throws: HashFetchFailure.self) {
            try await other.fetch(for: .login, by: .loopback, before: .now + .seconds(300))
        }
        await #expect(throws: CommonError.self) {
            try await other.fetch(
                for: .registration, by: IPAddress(v4: 1), before: .now + .seconds(300))
        }
        host.closeConnection()
        await #expect(throws: HashFetchFailure.self) { try await slow.value }
    }

    /// The time after which a busy fetcher wants to be asked again.
    private static func wait(_ body: () throws(CommonError) -> Void) -> Duration? {
        do throws(CommonError) {
            try body()
            return nil
        } catch {
            return if case .busy(let wait) = error { wait } else { nil }
        }
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
