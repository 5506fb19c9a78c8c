import Glibc
import Networking
import Synchronization
import TestPrimitives
import Testing

@testable import Fetching

/// Which addresses a fetch connects to, by name and by number.
@Suite(.timeLimit(.minutes(10))) struct GuardedFetcherAddressTests {
    private static let open = FetchRules(
        allowsHTTP: true, allowsPrivateNetworks: true, ports: .any)
    private static let strict = FetchRules(allowsHTTP: true, ports: .any)
    private static let loopback = IPAddress.loopback
    private static let mapped = IPAddress(v6: 0, 0xffff_7f00_0001)
    private static let global = IPAddress(v4: 0x0808_0808)

    private let host = Listener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    private func fetch(
        _ url: String, under rules: FetchRules,
        lookUp: @escaping GuardedFetcher.Lookup
    ) async throws -> [UInt8] {
        let target = try FetchTarget(url, under: rules)
        return try await GuardedFetcher(rules: rules, lookUp: lookUp).fetch(
            target, for: .loopback, by: .now + .seconds(300))
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

    @Test func anAddressThatIsAllowedIsNotConnectedToBesideOneThatIsNot() async throws {
        let metadata = IPAddress(v4: 0xa9fe_a9fe)
        await #expect(throws: FetchError(.forbiddenAddress(metadata))) {
            try await fetch("http://hash.test:\(host.port)/", under: Self.open) { _ in
                [Self.loopback, metadata]
            }
        }
        #expect(host.visits == 0)
    }

    @Test(arguments: [[loopback], [global, loopback], [loopback, global], [global, mapped]])
    func aNameWithOneForbiddenAddressIsNotConnectedTo(addresses: [IPAddress]) async throws {
        let forbidden = addresses.contains(Self.mapped) ? Self.mapped : Self.loopback
        await #expect(throws: FetchError(.forbiddenAddress(forbidden))) {
            try await fetch("http://hash.test:\(host.port)/", under: Self.strict) { _ in addresses }
        }
        #expect(host.visits == 0)
    }

    @Test(arguments: [
        "127.0.0.1", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "169.254.169.254", "10.0.0.1", "localhost",
    ])
    func anAddressThatIsNotGlobalIsForbiddenInEveryForm(name: String) async throws {
        let target = try FetchTarget("http://\(name):\(host.port)/", under: Self.strict)
        do {
            _ = try await GuardedFetcher(rules: Self.strict).fetch(
                target, for: .loopback, by: .now + .seconds(300))
            Issue.record("fetched")
        } catch let failure as FetchError {
            guard case .forbiddenAddress = failure.cause else {
                Issue.record("\(failure)")
                return
            }
        }
        #expect(host.visits == 0)
    }

    @Test func aNameWithoutAddressIsUnresolvable() async {
        let url = "http://hash.test:\(host.port)/"
        await #expect(throws: FetchError(.unresolvable(.noAddress))) {
            try await fetch(url, under: Self.open) { _ in [] }
        }
        let reason = NameLookupError(code: EAI_AGAIN)
        await #expect(throws: FetchError(.unresolvable(reason))) {
            try await fetch(url, under: Self.open) { _ throws(NameLookupError) in throw reason }
        }
        #expect(host.visits == 0)
    }

    /// A nameserver that answers with another address at each look-up. Nothing listens at the first
    /// one. Both are allowed, so that only a second look-up can make the difference, by this
    /// program or, as the name is one that the system knows, by libcurl.
    @Test func aNameThatIsReboundIsNotConnectedTo() async throws {
        let first = IPAddress(v4: 0x7f00_0002)
        let answers = Mutex([Self.loopback, first])
        await #expect(throws: FetchError(.unreachable)) {
            try await fetch("http://localhost:\(host.port)/", under: Self.open) { _ in
                answers.withLock { [$0.popLast() ?? Self.loopback] }
            }
        }
        #expect(answers.withLock { $0 } == [Self.loopback])
        #expect(host.visits == 0)
    }

    @Test(arguments: ["127.0.0.1", "hash.test"])
    func noSocketIsOpenedForAForbiddenAddressThatALookUpGave(name: String) async throws {
        let transfer = GuardedTransfer(
            target: try FetchTarget("http://\(name):\(host.port)/", under: Self.strict),
            address: Self.loopback, isLast: true, rules: Self.strict, trust: .builtIn,
            deadline: .now + .seconds(300))
        await #expect(throws: FetchError(.forbiddenAddress(Self.loopback))) {
            try await onOwnThread { try transfer.get() }
        }
        #expect(host.visits == 0)
    }

    @Test func theNextAddressIsTriedWhenOneDoesNotAnswer() async throws {
        let body = try await fetch("http://hash.test:\(host.port)/", under: Self.open) { _ in
            [IPAddress(v4: 0x7f00_0002), IPAddress(v6: 0, 1), Self.loopback]
        }
        #expect(body == Array("hi".utf8))
    }

    @Test func theSystemResolvesItsOwnName() async throws {
        let addresses = try await onOwnThread { try SystemLookup.addresses(of: "localhost") }
        let own = ["127.0.0.1", "::1"].compactMap(IPAddress.init(canonical:))
        #expect(!addresses.isEmpty && addresses.allSatisfy(own.contains))
        await #expect(throws: NameLookupError.self) {
            try await onOwnThread { try SystemLookup.addresses(of: "no-such-name.invalid") }
        }
    }
}
