import Synchronization
import TestPrimitives
import Testing

@testable import Fetching

/// Where a fetch may go: names, addresses, and the socket itself.
@Suite(.timeLimit(.minutes(1))) struct GuardedFetcherAddressTests {
    private static let open = FetchRules(
        allowsHTTP: true, allowsPrivateNetworks: true, ports: .any)
    private static let strict = FetchRules(allowsHTTP: true, ports: .any)
    private static let loopback = IPAddress(v4: 0x7f00_0001)
    private static let mapped = IPAddress(v6: 0xffff_7f00_0001)
    private static let global = IPAddress(v4: 0x0808_0808)

    private let host = Listener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    private func fetch(
        _ url: String, under rules: FetchRules, within timeout: Duration = .seconds(10),
        lookUp: @escaping NameLookup
    ) async throws -> [UInt8] {
        let target = try FetchTarget(url, under: rules)
        return try await GuardedFetcher(rules: rules, lookUp: lookUp).fetch(target, within: timeout)
    }

    @Test func aNameIsLookedUpOnceAndItsAddressConnectedTo() async throws {
        let asked = Mutex<[String]>([])
        let body = try await fetch("http://Hash.TEST:\(host.port)/", under: Self.open) { name in
            asked.withLock { $0.append(name) }
            return [Self.loopback]
        }
        #expect(body == Array("hi".utf8))
        #expect(asked.withLock { $0 } == ["hash.test"])
        #expect(host.visits == 1)
    }

    @Test func theHostHeaderIsTheNameAndNotTheAddress() async throws {
        let seen = Mutex("")
        let host = Listener { connection in
            let head = Listener.readHead(connection)
            seen.withLock { $0 = head }
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", connection)
        }
        _ = try await fetch("http://hash.test:\(host.port)/", under: Self.open) { _ in
            [Self.loopback]
        }
        #expect(seen.withLock { $0 }.contains("\r\nHost: hash.test:\(host.port)\r\n"))
    }

    @Test(arguments: [[loopback], [global, loopback], [loopback, global], [global, mapped]])
    func aNameOfWhichOneAddressIsRefusedIsNotConnectedTo(addresses: [IPAddress]) async throws {
        let refused = addresses.contains(Self.mapped) ? Self.mapped : Self.loopback
        await #expect(throws: FetchFailure(.refusedAddress(refused))) {
            try await fetch("http://hash.test:\(host.port)/", under: Self.strict) { _ in addresses }
        }
        #expect(host.visits == 0)
    }

    @Test(arguments: [
        "127.0.0.1", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "169.254.169.254", "10.0.0.1", "localhost",
    ])
    func anAddressThatIsNotGlobalIsRefusedHoweverItIsWritten(name: String) async throws {
        let target = try FetchTarget("http://\(name):\(host.port)/", under: Self.strict)
        do {
            _ = try await GuardedFetcher(rules: Self.strict).fetch(target, within: .seconds(10))
            Issue.record("fetched")
        } catch let failure as FetchFailure {
            guard case .refusedAddress = failure.cause else {
                Issue.record("\(failure)")
                return
            }
        }
        #expect(host.visits == 0)
    }

    @Test func aNameWithoutAddressIsUnresolvable() async {
        let url = "http://hash.test:\(host.port)/"
        await #expect(throws: FetchFailure(.unresolvable)) {
            try await fetch(url, under: Self.open) { _ in [] }
        }
        await #expect(throws: FetchFailure(.unresolvable)) {
            try await fetch(url, under: Self.open) { _ throws(FetchFailure) in
                throw FetchFailure(.unresolvable)
            }
        }
        #expect(host.visits == 0)
    }

    /// A resolver that gives a public address first and a private one to whoever asks again.
    @Test func rebindingANameLeadsNowhere() async throws {
        let answers = Mutex([Self.loopback, Self.global])
        let rules = Self.strict
        let target = try FetchTarget("http://localhost:\(host.port)/", under: rules)
        let fetcher = GuardedFetcher(rules: rules) { _ in
            answers.withLock { [$0.popLast() ?? Self.loopback] }
        }
        // Nobody is at the public address, or nobody can be reached from here.
        await #expect(throws: FetchFailure.self) {
            try await fetcher.fetch(target, within: .milliseconds(100))
        }
        #expect(answers.withLock { $0 } == [Self.loopback])
        #expect(host.visits == 0)
    }

    @Test(arguments: ["127.0.0.1", "hash.test"])
    func theSocketIsRefusedWhereTheLookupWasDeceived(name: String) async throws {
        let transfer = GuardedTransfer(
            target: try FetchTarget("http://\(name):\(host.port)/", under: Self.strict),
            addresses: [Self.loopback], rules: Self.strict, trust: .builtIn,
            deadline: .now + .seconds(10))
        await #expect(throws: FetchFailure(.refusedAddress(Self.loopback))) {
            try await onOwnThread { try transfer.perform() }
        }
        #expect(host.visits == 0)
    }

    @Test func theNextAddressIsTriedWhereOneIsDead() async throws {
        let body = try await fetch("http://hash.test:\(host.port)/", under: Self.open) { _ in
            [IPAddress(v4: 0x7f00_0002), IPAddress(v6: 1), Self.loopback]
        }
        #expect(body == Array("hi".utf8))
    }

    @Test func theSystemKnowsItsOwnName() async throws {
        let addresses = try await onOwnThread { try SystemLookup.addresses(of: "localhost") }
        let own = ["127.0.0.1", "::1"].compactMap(IPAddress.init(canonical:))
        #expect(!addresses.isEmpty && addresses.allSatisfy(own.contains))
        await #expect(throws: FetchFailure(.unresolvable)) {
            try await onOwnThread { try SystemLookup.addresses(of: "no-such-name.invalid") }
        }
    }
}
