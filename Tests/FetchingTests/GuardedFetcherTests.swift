import Glibc
import Networking
import Synchronization
import Testing

@testable import Fetching

/// What a fetch makes of the response of a host.
@Suite(.timeLimit(.minutes(10))) struct GuardedFetcherTests {
    private static let rules = FetchRules(
        allowsHTTP: true, allowsPrivateNetworks: true, ports: .any, userAgent: "postern/0")

    private func fetch(
        _ listener: Listener, within timeout: Duration = .seconds(300),
        under rules: FetchRules = rules
    ) async throws -> [UInt8] {
        defer { withExtendedLifetime(listener) {} }
        let target = try FetchTarget(listener.url("/hash.txt?v=1"), under: rules)
        return try await GuardedFetcher(rules: rules).fetch(
            target, for: .loopback, by: .now + timeout)
    }

    private func cause(
        _ listener: Listener, within timeout: Duration = .seconds(300)
    ) async -> FetchError.Cause? {
        do {
            _ = try await fetch(listener, within: timeout)
            return nil
        } catch {
            return (error as? FetchError)?.cause
        }
    }

    @Test(arguments: [
        "Content-Length: 8\r\n\r\n\u{feff}$\0\r\n\n", "Connection: close\r\n\r\n\u{feff}$\0\r\n\n",
        "Transfer-Encoding: chunked\r\n\r\n4\r\n\u{feff}$\r\n4\r\n\0\r\n\n\r\n0\r\n\r\n",
        "Content-Encoding: identity\r\nContent-Length: 8\r\n\r\n\u{feff}$\0\r\n\n",
    ])
    func theBodyHasTheBytesThatTheHostSent(rest: String) async throws {
        let body = try await fetch(Listener(answer: "HTTP/1.1 200 OK\r\n" + rest))
        #expect(body == [0xef, 0xbb, 0xbf, 0x24, 0x00, 0x0d, 0x0a, 0x0a])
    }

    @Test func theRequestHasAUserAgentAndAcceptsNoCompression() async throws {
        let seen = Mutex("")
        let listener = Listener { connection in
            let head = Listener.readHead(connection)
            seen.withLock { $0 = head }
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", connection)
        }
        let port = listener.port
        #expect(try await fetch(listener) == [])
        let head = seen.withLock { $0 }
        #expect(
            head
                == "GET /hash.txt?v=1 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                + "User-Agent: postern/0\r\nAccept: */*\r\n\r\n")
    }

    @Test func theRequestHasTheHeaderFieldsOfTheCaller() async throws {
        let seen = Mutex("")
        let listener = Listener { connection in
            let head = Listener.readHead(connection)
            seen.withLock { $0 = head }
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", connection)
        }
        defer { withExtendedLifetime(listener) {} }
        let target = try FetchTarget(listener.url("/"), under: Self.rules)
        let fetcher = GuardedFetcher(rules: Self.rules)
        _ = try await fetcher.fetch(
            target, headers: [("Authorization", "Bearer a.b"), ("Accept", "a/b")], for: .loopback,
            by: .now + .seconds(300))
        let head = seen.withLock { $0 }
        #expect(head.contains("\r\nAuthorization: Bearer a.b\r\n"))
        #expect(head.contains("\r\nAccept: a/b\r\n") && !head.contains("*/*"))
        for (name, value) in [("A", "b\r\nC: d"), ("", "b"), ("A", "\u{0}")] {
            await #expect(throws: FetchError.self) {
                try await fetcher.fetch(
                    target, headers: [(name, value)], for: .loopback, by: .now + .seconds(300))
            }
        }
        #expect(listener.visits == 1)
    }

    @Test(arguments: ["Content-Length: %\r\n\r\n", "Connection: close\r\n\r\n"])
    func aBodyOfTheLimitIsReadAndOneByteMoreIsAnError(header: String) async throws {
        func answer(_ count: Int) -> Listener {
            let header = header.replacing("%", with: "\(count)")
            let body = String(repeating: "a", count: count)
            return Listener(answer: "HTTP/1.1 200 OK\r\n\(header)\(body)")
        }
        #expect(try await fetch(answer(4096)).count == 4096)
        #expect(await cause(answer(4097)) == .tooLarge)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1000\r\n", "\r\n"),
        ("HTTP/1.1 200 OK\r\n\r\n", "", ""),
        ("HTTP/1.1 200 OK\r\n", "X-Filler: ", "\r\n"),
    ])
    func anEndlessResponseIsAnError(head: String, before: String, after: String) async {
        let piece = before + String(repeating: "a", count: 4096) + after
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            Listener.send(head, connection)
            while Listener.send(piece, connection) {}
        }
        #expect(await cause(listener) == .tooLarge)
    }

    @Test(arguments: [
        ("1;", "x"), ("1\r\na\r\n1;", "x"), ("", "00000001;xxxxxxxxxxxxxxxxxxxxxxxxx\r\na\r\n"),
    ])
    func endlessExtensionsOfChunksAreAnError(before: String, piece: String) async {
        let piece = String(repeating: piece, count: 1024)
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            Listener.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", connection)
            Listener.send(before, connection)
            while Listener.send(piece, connection) {}
        }
        #expect(await cause(listener) == .tooLarge)
    }

    @Test func aBodyInChunksOfOneByteIsRead() async throws {
        let chunks = String(repeating: "0001;a=b\r\nx\r\n", count: 4096)
        let body = try await fetch(
            Listener(
                answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n"))
        #expect(body == [UInt8](repeating: 0x78, count: 4096))
    }

    @Test func endlessInterimResponsesAreAnError() async {
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            while Listener.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", connection) {}
        }
        #expect(await cause(listener) == .tooLarge)
    }

    @Test(arguments: [201, 202, 203, 204, 206, 304, 400, 401, 404, 407, 500, 503, 999])
    func everyStatusButOKIsAnError(status: Int) async {
        let listener = Listener(
            answer: "HTTP/1.1 \(status) X\r\nWWW-Authenticate: Basic realm=a\r\n"
                + "Content-Length: 0\r\n\r\n")
        #expect(await cause(listener) == .status(status))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func aRedirectIsAnErrorAndIsNotFollowed(status: Int) async {
        let elsewhere = Listener(answer: "")
        let listener = Listener(
            answer: "HTTP/1.1 \(status) X\r\nLocation: \(elsewhere.url())\r\n"
                + "Refresh: 0; url=\(elsewhere.url())\r\nContent-Length: 0\r\n\r\n")
        #expect(await cause(listener) == .status(status))
        #expect(elsewhere.visits == 0)
    }

    /// libcurl would decode the body, layer by layer, however large each is.
    @Test(arguments: ["gzip", "GZIP, gzip,deflate", "gzip, chunked", "chunked, gzip"])
    func aTransferWithACodingEndsBeforeItsBody(coding: String) async {
        let listener = Listener(
            answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n\u{1f}")
        #expect(await cause(listener) == .encoded)
    }

    @Test(arguments: [
        "Content-Encoding: gzip", "content-encoding: br", "Content-Encoding: identity, deflate",
        "Transfer-Encoding: gzip, chunked",
    ])
    func aCompressedResponseIsAnError(header: String) async {
        let listener = Listener(
            answer: "HTTP/1.1 200 OK\r\n\(header)\r\nConnection: close\r\n\r\n0\r\n\r\n")
        let cause = await cause(listener)
        // libcurl ends a transfer with a coding that it does not know.
        if case .broken = cause { return }
        #expect(cause == .encoded)
    }

    @Test(arguments: [
        "220 smtp.test ESMTP\r\n", "$argon2id$v=19$\n", "", "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func anIncompleteResponseIsAnError(answer: String) async {
        guard case .broken = await cause(Listener(answer: answer)) else {
            Issue.record("expected .broken")
            return
        }
    }

    @Test func aHostThatDripsBytesEndsAtTheDeadline() async {
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n", connection)
            while Listener.send("a", connection), !Listener.isClosed(connection, within: 10) {}
        }
        #expect(await cause(listener, within: .milliseconds(150)) == .timedOut)
    }

    @Test func aSilentHostEndsAtTheDeadline() async {
        let listener = Listener { connection in _ = Listener.read(connection, count: 100_000) }
        #expect(await cause(listener, within: .milliseconds(100)) == .timedOut)
    }

    @Test func aPortWithoutAListenerIsUnreachable() async throws {
        let url = Listener(answer: "").url()
        // The listener is gone already.
        let target = try FetchTarget(url, under: Self.rules)
        await #expect(throws: FetchError(.unreachable)) {
            try await GuardedFetcher(rules: Self.rules).fetch(
                target, for: .loopback, by: .now + .seconds(300))
        }
    }

    @Test func plainHTTPToAnHTTPSTargetIsNotTrusted() async throws {
        let listener = Listener { connection in
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", connection)
            _ = Listener.isClosed(connection, within: 10_000)
        }
        let target = try FetchTarget("https://127.0.0.1:\(listener.port)/", under: Self.rules)
        await #expect(throws: FetchError(.untrusted)) {
            try await GuardedFetcher(rules: Self.rules).fetch(
                target, for: .loopback, by: .now + .seconds(300))
        }
    }

    /// In a process of its own, because other tests read the environment at the same time.
    @Test func proxiesOfTheEnvironmentAreIgnored() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "all_proxy"] { setenv(name, "http://127.0.0.1:1", 1) }
            let listener = Listener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let body = try await GuardedFetcherTests().fetch(listener)
            #expect(body == [])
        }
    }

    @Test func everyCauseHasATextWithoutAnythingThatTheHostSent() {
        let causes: [FetchError.Cause] = [
            .unresolvable(.noAddress), .forbiddenAddress(IPAddress(v4: 1)), .unreachable,
            .untrusted, .timedOut,
            .tooLarge, .encoded, .status(302), .broken(code: 56),
        ]
        #expect(Set(causes.map { "\(FetchError($0))" }).count == causes.count)
        #expect("\(FetchError(.status(302)))" == "the response has status 302")
        #expect(
            "\(FetchError(.forbiddenAddress(IPAddress(v4: 0xa9fe_a9fe))))"
                == "the address 169.254.169.254 may not be connected to (link local, RFC 3927)")
    }
}
