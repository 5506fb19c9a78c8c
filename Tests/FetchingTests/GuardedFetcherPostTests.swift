import Networking
import Synchronization
import TestPrimitives
import Testing

@testable import Fetching

/// Posts, which use connections that are open already.
@Suite(.timeLimit(.minutes(10))) struct GuardedFetcherPostTests {
    private static let second = IPAddress(v4: 0x7f00_0002)
    private static let forbidden = IPAddress(v4: 0xa9fe_a9fe)

    /// The answers of a resolver, one for each look-up.
    private final class Answers: Sendable {
        private let left: Mutex<[[IPAddress]]>

        init(_ answers: [IPAddress]...) {
            left = Mutex(answers)
        }

        func next() -> [IPAddress] { left.withLock { $0.removeFirst() } }
    }

    private func fetcher(
        _ rules: FetchRules = .local(), _ lookUp: @escaping @Sendable () -> [IPAddress]
    ) -> GuardedFetcher {
        GuardedFetcher(rules: rules) { _ in lookUp() }
    }

    private func post(
        _ text: String = "", to name: String, _ listener: Listener, by fetcher: GuardedFetcher,
        within time: Duration = .seconds(300)
    ) async throws -> Int {
        defer { withExtendedLifetime(listener) {} }
        let scheme = fetcher.rules.allowsHTTP ? "http" : "https"
        let target = try FetchTarget(
            "\(scheme)://\(name):\(listener.port)/hook", under: fetcher.rules)
        return try await fetcher.post(
            Array(text.utf8), to: target, headers: [("X-Name", "value")], for: .loopback,
            by: .now + time)
    }

    @Test func aPostHasItsBodyAndHeaderFields() async throws {
        let seen = Mutex("")
        let listener = Listener { connection in
            let head = Listener.readHead(connection)
            let body = Listener.read(connection, count: 6)
            seen.withLock { $0 = head + body }
            Listener.send("HTTP/1.1 204 No Content\r\n\r\n", connection)
        }
        let fetcher = fetcher { [.loopback] }
        #expect(try await post("{\"\0\"}\n", to: "a.test", listener, by: fetcher) == 204)
        let request = seen.withLock { $0 }
        #expect(request.hasPrefix("POST /hook HTTP/1.1\r\nHost: a.test:\(listener.port)\r\n"))
        #expect(request.contains("\r\nX-Name: value\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"\0\"}\n"))
    }

    @Test func postsToOneHostUseOneConnection() async throws {
        let listener = Listener(keeping: Listener.ok)
        let fetcher = fetcher { [.loopback] }
        for _ in 0..<3 {
            #expect(try await post(to: "a.test", listener, by: fetcher) == 200)
        }
        #expect(listener.visits == 1)
    }

    @Test func aConnectionThatTheHostClosedIsOpenedAgain() async throws {
        let listener = Listener(answer: Listener.ok)
        let fetcher = fetcher { [.loopback] }
        for _ in 0..<3 {
            #expect(try await post(to: "a.test", listener, by: fetcher) == 200)
        }
        #expect(listener.visits == 3)
    }

    @Test func aConnectionToAnAddressThatTheHostNoLongerHasIsNotUsed() async throws {
        let first = Listener(keeping: Listener.ok)
        let other = Listener(on: Self.second, port: first.port, keeping: Listener.ok)
        let answers = Answers([.loopback], [Self.second], [.loopback])
        let fetcher = fetcher { answers.next() }
        for visits in [(1, 0), (1, 1), (1, 1)] {
            #expect(try await post(to: "a.test", first, by: fetcher) == 200)
            #expect((first.visits, other.visits) == visits)
        }
    }

    /// Of the addresses that are looked up for every post, each must be allowed, whatever is
    /// connected.
    @Test func aConnectionIsNotUsedWhileTheHostHasAForbiddenAddress() async throws {
        let heads = Record<String>()
        let listener = Listener { connection in
            while case let head = Listener.readHead(connection), head.hasSuffix("\r\n\r\n") {
                heads.add(head)
                Listener.send(Listener.ok, connection)
            }
        }
        let answers = Answers([.loopback], [.loopback, Self.forbidden], [Self.forbidden])
        let fetcher = fetcher { answers.next() }
        #expect(try await post(to: "a.test", listener, by: fetcher) == 200)
        for _ in 0..<2 {
            await #expect(throws: FetchError(.forbiddenAddress(Self.forbidden))) {
                try await post(to: "a.test", listener, by: fetcher)
            }
        }
        #expect(heads.entries.count == 1)
    }

    /// With TLS they could be answered by a host whose certificate was not verified for them.
    @Test func hostsOfOneAddressShareNoConnection() async throws {
        let authority = try LocalAuthority(names: [("hash.test", .current)])
        let listener = authority.listener(
            as: "hash.test", answer: Listener.ok, keepsOpen: true)
        let rules = FetchRules(
            allowsPrivateNetworks: true, ports: .any, certificateFile: authority.certificate)
        let fetcher = fetcher(rules) { [.loopback] }
        for _ in 0..<2 { #expect(try await post(to: "hash.test", listener, by: fetcher) == 200) }
        #expect(listener.visits == 1)
        await #expect(throws: FetchError(.untrusted)) {
            try await post(to: "other.test", listener, by: fetcher)
        }
        #expect(listener.visits == 2)
    }

    @Test func aHostWhoseFirstAddressIsClosedIsAskedAtTheNext() async throws {
        let listener = Listener(on: Self.second, keeping: Listener.ok)
        let fetcher = fetcher { [.loopback, Self.second] }
        #expect(try await post(to: "a.test", listener, by: fetcher) == 200)
    }

    @Test(arguments: [301, 302, 307, 308, 400, 410, 500, 503])
    func otherStatusesAreErrorsAndRedirectsAreNotFollowed(status: Int) async throws {
        let elsewhere = Listener(answer: Listener.ok)
        let listener = Listener(
            answer: "HTTP/1.1 \(status) X\r\nLocation: \(elsewhere.url())\r\n"
                + "Content-Length: 0\r\n\r\n")
        await #expect(throws: FetchError(.status(status))) {
            try await post(to: "a.test", listener, by: fetcher { [.loopback] })
        }
        #expect(elsewhere.visits == 0)
    }

    @Test func aSilentHostEndsAtTheDeadlineAndDelaysNoOther() async throws {
        let silent = Listener { connection in _ = Listener.read(connection, count: 100_000) }
        let prompt = Listener(on: Self.second, keeping: Listener.ok)
        let fetcher = GuardedFetcher(rules: .local()) { name in
            [name == "slow.test" ? .loopback : Self.second]
        }
        let slow = Task { try await post(to: "slow.test", silent, by: fetcher) }
        await silent.isVisited()
        for _ in 0..<3 { #expect(try await post(to: "a.test", prompt, by: fetcher) == 200) }
        slow.cancel()
        await #expect(throws: CancellationError.self) { try await slow.value }
        await #expect(throws: FetchError(.timedOut)) {
            try await post(to: "slow.test", silent, by: fetcher, within: .milliseconds(100))
        }
    }

    @Test func headerFieldsThatCannotBeSentAreAnError() async throws {
        let listener = Listener(keeping: Listener.ok)
        let fetcher = fetcher { [.loopback] }
        let target = try FetchTarget(listener.url(), under: .local())
        await #expect(throws: FetchError.self) {
            try await fetcher.post(
                [], to: target, headers: [("A", "b\r\nC: d")], for: .loopback,
                by: .now + .seconds(300))
        }
        #expect(listener.visits == 0)
    }
}
