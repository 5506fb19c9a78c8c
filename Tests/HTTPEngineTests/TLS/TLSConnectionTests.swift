import COpenSSL
import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

private let now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
private let last = "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

/// A server whose connections are encrypted.
private func encrypted(
    _ certificates: TestCertificate..., clients: TestCertificate? = nil,
    tickets: SessionTickets = SessionTickets(),
    _ adjust: (inout LiveServer.Setup) -> Void = { _ in }
) throws -> LiveServer {
    let context = try TLSContext(
        try certificates.map(TLSCertificate.init), clientAuthorities: clients?.certificate,
        tickets: tickets)
    return try LiveServer {
        $0.tls = ListenerTLS(context)
        adjust(&$0)
    }
}

extension TLSCertificate {
    fileprivate convenience init(_ made: TestCertificate) throws {
        try self.init(certificatePEM: made.certificate, keyPEM: made.key)
    }
}

extension Live {
    @Suite struct Encrypted {
        @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
        func requestsAreAnsweredAndTheEndIsMarked(version: Int32) async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            let client = TLSClient(live.client()) {
                $0.version = version
                $0.protocols = Array("\u{2}h2\u{8}http/1.1".utf8)
            }
            #expect(client.isConnected && client.version == version)
            #expect(client.selected == "http/1.1")
            client.send(now)
            client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n" + last)
            let text = try #require(client.receiveToEnd())
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.utf8.count > 100_000)
            #expect(text.hasSuffix("now \n"))
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
            #expect(live.records.access.count == 3 && live.records.errors.isEmpty)
        }

        @Test func aBodyMayComeInPieces() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            let client = TLSClient(live.client())
            let request =
                "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
            for byte in request.utf8 { client.send(String(UnicodeScalar(byte))) }
            #expect(client.receiveToEnd()?.hasSuffix("\r\n\r\nhello") == true)
            await live.server.drain()
        }

        @Test func aClientThatHasEndedItsOutputIsStillAnswered() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            let client = TLSClient(live.client())
            client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            client.endInput()
            await live.arrivals.reaches()
            live.gate.open()
            #expect(client.receiveToEnd()?.hasSuffix("gate\n") == true)
            await live.server.drain()
        }

        @Test func anEndWithoutCloseNotifyIsNoEndOfRequests() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            let client = TLSClient(live.client())
            client.send("GET /until-cancelled HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            client.raw.endInput()
            await live.cancelled.wait()
            #expect(client.receiveToEnd() == nil)
            await live.server.drain()
        }

        @Test(arguments: [SSL3_VERSION, TLS1_VERSION, TLS1_1_VERSION])
        func olderVersionsAreRejected(version: Int32) async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            #expect(!TLSClient(live.client()) { $0.version = version }.isConnected)
            await live.server.drain()
        }

        @Test func anotherProtocolIsRejected() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            let client = TLSClient(live.client()) { $0.protocols = Array("\u{2}h2".utf8) }
            #expect(!client.isConnected)
            await live.server.drain()
            #expect(live.server.statistics.rejections[.failedHandshake] == 1)
        }

        @Test func plainHTTPIsAnswered400() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 400 ") == true)
            await live.server.drain()
            #expect(live.server.statistics.rejections[.failedHandshake] == 1)
        }

        @Test func secureFieldsAreOfEncryptedResponsesOnly() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test")) {
                $0.headers = [("X-Common", "yes")]
                $0.secureHeaders = [("X-Secure", "yes")]
            }
            let client = TLSClient(live.client())
            client.send(last)
            let answered = try #require(client.receiveToEnd())
            #expect(answered.contains("X-Common: yes") && answered.contains("X-Secure: yes"))
            let rejected = try #require(live.exchange(last))
            #expect(rejected.contains("X-Common: yes") && !rejected.contains("X-Secure"))
            await live.server.drain()
        }

        @Test func garbageIsClosed() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            // A record of 65,535 bytes, a record of an unknown type, an SSLv2 hello.
            for bytes: [UInt8] in [
                [22, 3, 1, 255, 255], [99, 3, 3, 0, 1, 0], [128, 46, 1, 0, 2],
            ] {
                let client = live.client()
                client.send(bytes + [UInt8](repeating: 0, count: 64))
                // An alert, perhaps, and then the end or a reset.
                while let more = client.receive(), !more.isEmpty {}
            }
            await live.server.drain()
            #expect(live.server.statistics.rejections[.failedHandshake] == 3)
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func aHandshakeThatIsNotCompletedInTimeIsClosed() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test")) {
                $0.headDeadline = .milliseconds(100)
            }
            let (silent, begun) = (live.client(), live.client())
            begun.send([22, 3, 1, 1, 0, 1])
            #expect(silent.receiveToEnd() == "" && begun.receiveToEnd() == "")
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func aStopClosesIdleConnectionsWithCloseNotify() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test"))
            let client = TLSClient(live.client())
            client.send(now)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            #expect(SSL_read(client.session, &buffer, 4_096) > 0)
            let unfinished = live.client()
            await live.server.drain()
            #expect(client.receiveToEnd() == "" && unfinished.receiveToEnd() == "")
        }

        @Test func aConnectionOverTheLimitIsAnswered503() async throws {
            let live = try encrypted(try TestCertificate("DNS:a.test")) { $0.maxConnections = 1 }
            let held = TLSClient(live.client())
            let second = TLSClient(live.client())
            #expect(second.receiveToEnd()?.hasPrefix("HTTP/1.1 503 ") == true)
            held.send(last)
            #expect(held.receiveToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
        }
    }

    @Suite struct ServerNames {
        @Test func theCertificateIsTheOneForTheName() async throws {
            let first = try TestCertificate("DNS:a.test")
            let second = try TestCertificate("DNS:B.test,DNS:*.c.test")
            let live = try encrypted(first, second)
            let expected = [
                ("a.test", first), ("b.test", second), ("B.TEST", second), ("x.c.test", second),
                ("c.test", first), ("y.x.c.test", first), ("unknown.test", first), (nil, first),
            ]
            for (name, certificate) in expected {
                let client = TLSClient(live.client()) { $0.name = name }
                #expect(client.peerCertificate == certificate.certificate, "\(name ?? "none")")
            }
            await live.server.drain()
        }

        @Test func newConnectionsUseTheCertificateThatReplacesAnother() async throws {
            let (old, new) = (try TestCertificate("DNS:a.test"), try TestCertificate("DNS:a.test"))
            let tickets = SessionTickets()
            let tls = ListenerTLS(try TLSContext([try TLSCertificate(old)], tickets: tickets))
            let live = try LiveServer { $0.tls = tls }
            let before = TLSClient(live.client())
            tls.replace(with: try TLSContext([try TLSCertificate(new)], tickets: tickets))
            let after = TLSClient(live.client())
            #expect(before.peerCertificate == old.certificate)
            #expect(after.peerCertificate == new.certificate)
            before.send(last)
            #expect(before.receiveToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
        }
    }

    @Suite struct ClientCertificates {
        @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
        func onlyClientsOfTheAuthorityAreServed(version: Int32) async throws {
            let (trusted, other) = (try TestCertificate(""), try TestCertificate(""))
            let live = try encrypted(try TestCertificate("DNS:a.test"), clients: trusted)
            func answer(_ certificate: TestCertificate?) -> String? {
                let client = TLSClient(live.client()) {
                    $0.version = version
                    $0.certificate = certificate
                }
                client.send(last)
                return client.receiveToEnd()
            }
            #expect(answer(trusted)?.hasPrefix("HTTP/1.1 200 ") == true)
            #expect(answer(other) == nil && answer(nil) == nil)
            await live.server.drain()
            #expect(live.server.statistics.rejections[.failedHandshake] == 2)
        }
    }

    @Suite struct Resumption {
        private func session(of live: LiveServer, version: Int32) -> OpaquePointer? {
            let client = TLSClient(live.client()) { $0.version = version }
            client.send(last)
            // The ticket of TLS 1.3 comes with the response.
            _ = client.receiveToEnd()
            return client.takeSession()
        }

        @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
        func aSessionIsResumedByItsTicket(version: Int32) async throws {
            let certificate = try TestCertificate("DNS:a.test")
            let tickets = SessionTickets()
            let live = try encrypted(certificate, tickets: tickets)
            let ticket = session(of: live, version: version)
            defer { SSL_SESSION_free(ticket) }
            // Another listener of the process knows the keys, another process does not.
            let (same, other) = (
                try encrypted(certificate, tickets: tickets), try encrypted(certificate)
            )
            for (server, isResumed) in [(live, true), (same, true), (other, false)] {
                let client = TLSClient(server.client()) {
                    $0.version = version
                    $0.session = ticket
                }
                #expect(client.isConnected && client.isResumed == isResumed)
                client.send(last)
                _ = client.receiveToEnd()
                let next = client.takeSession()
                defer { SSL_SESSION_free(next) }
                // A ticket of TLS 1.3 is used once.
                #expect((next == ticket) == (isResumed && version == TLS1_2_VERSION))
            }
            for server in [live, same, other] { await server.server.drain() }
        }

        /// A resumed session would not be checked again.
        @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
        func nothingIsResumedWhereClientsNeedCertificates(version: Int32) async throws {
            let (certificate, client) = (
                try TestCertificate("DNS:a.test"), try TestCertificate("")
            )
            let tickets = SessionTickets()
            let open = try encrypted(certificate, tickets: tickets)
            let closed = try encrypted(certificate, clients: client, tickets: tickets)
            let ticket = session(of: open, version: version)
            defer { SSL_SESSION_free(ticket) }
            let intruder = TLSClient(closed.client()) {
                $0.version = version
                $0.session = ticket
            }
            intruder.send(last)
            #expect(!intruder.isResumed && intruder.receiveToEnd() == nil)
            await open.server.drain()
            await closed.server.drain()
        }
    }

    @Suite struct EncryptedBehindAProxy {
        private func proxied() throws -> LiveServer {
            let loopback = try #require(IPBlock("127.0.0.0/8"))
            return try encrypted(try TestCertificate("DNS:a.test")) {
                $0.proxies.proxyProtocol = .required
                $0.proxies.addresses = [loopback]
            }
        }

        @Test func theHeaderComesBeforeTheHandshake() async throws {
            let live = try proxied()
            let raw = live.client()
            let line = "PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\n"
            // Some of it in pieces, the rest at once with what follows.
            for byte in line.utf8.prefix(20) { raw.send([byte]) }
            raw.send(Array(line.utf8.dropFirst(20)))
            let client = TLSClient(raw)
            client.send(last)
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
            #expect(live.records.access.map(\.peer.description) == ["192.0.2.1:4711"])
        }

        @Test func aHandshakeWithoutAHeaderIsClosed() async throws {
            let live = try proxied()
            #expect(!TLSClient(live.client()).isConnected)
            let client = live.client()
            client.send("PROXY TCP4 192.0")
            client.endInput()
            #expect(client.receiveToEnd() == "")
            await live.server.drain()
            let reasons = live.records.errors.map { ($0.error as? ProxyHeaderError)?.reason }
            #expect(Set(reasons) == [.missing, .truncated])
        }

        @Test func theClientThatTheProxyNamesIsLimited() async throws {
            let loopback = try #require(IPBlock("127.0.0.0/8"))
            let live = try encrypted(try TestCertificate("DNS:a.test")) {
                $0.proxies.proxyProtocol = .required
                $0.proxies.addresses = [loopback]
                $0.maxConnectionsPerClient = 1
            }
            func connect() -> TLSClient {
                let raw = live.client()
                raw.send("PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\n")
                return TLSClient(raw)
            }
            let (first, second) = (connect(), connect())
            #expect(second.receiveToEnd()?.hasPrefix("HTTP/1.1 503 ") == true)
            first.send(last)
            #expect(first.receiveToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
        }
    }
}
