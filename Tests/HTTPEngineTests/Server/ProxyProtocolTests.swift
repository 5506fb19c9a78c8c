import Networking
import Testing

@testable import HTTPEngine

private let last = "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
private let line = "PROXY TCP4 192.0.2.1 198.51.100.2 4711 80\r\n"

/// A server that trusts proxies on the loopback interface.
private func proxied(
    _ adjust: (inout LiveServer.Setup) -> Void = { _ in }
) throws -> LiveServer {
    let loopback = try #require(IPBlock("127.0.0.0/8"))
    return try LiveServer {
        $0.proxies.proxyProtocol = .required
        $0.proxies.addresses = [loopback]
        adjust(&$0)
    }
}

extension Live {
    /// Connections that begin with a PROXY header.
    @Suite struct Proxied {
        @Test func theClientIsTheOneThatTheProxyNames() async throws {
            let live = try proxied()
            #expect(live.exchange(line + last)?.hasPrefix("HTTP/1.1 200 ") == true)
            let client = live.client()
            client.send(
                Array("\r\n\r\n\0\r\nQUIT\n".utf8)
                    + [0x21, 0x11, 0, 12, 203, 0, 113, 9, 127, 0, 0, 1, 0x12, 0x67, 0, 80]
                    + Array(last.utf8))
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
            let peers = live.records.access.map(\.peer.description)
            #expect(peers == ["192.0.2.1:4711", "203.0.113.9:4711"])
            #expect(live.records.errors.isEmpty && live.server.statistics.openConnections == 0)
        }

        @Test func aHeaderMayComeInPieces() async throws {
            let live = try proxied()
            let client = live.client()
            for byte in (line + last).utf8 { client.send([byte]) }
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
            #expect(live.records.access.map(\.peer.address.description) == ["192.0.2.1"])
        }

        @Test func aProxyWithoutAClientKeepsItsAddressAndMayForward() async throws {
            let live = try proxied()
            _ = live.exchange("PROXY UNKNOWN\r\n" + last)
            let forwarded = last.replacing("Host", with: "X-Forwarded-For: 203.0.113.9\r\nHost")
            _ = live.exchange("PROXY UNKNOWN\r\n" + forwarded)
            // The client that the proxy names is not a proxy itself.
            _ = live.exchange(line + forwarded)
            await live.server.drain()
            #expect(
                live.records.access.map(\.peer.address.description)
                    == ["127.0.0.1", "203.0.113.9", "192.0.2.1"])
        }

        @Test(arguments: [
            last, "\r\n" + last, "PROXY TCP4 nobody\r\n" + last, "PROXY UNKNOWN\n" + last,
        ])
        func aConnectionWithoutAValidHeaderIsClosedWithoutAResponse(text: String) async throws {
            let live = try proxied()
            let client = live.client()
            client.send(text)
            // With bytes unread, the kernel may send a reset.
            #expect(client.receiveToEnd() ?? "" == "")
            await live.server.drain()
            #expect(live.records.access.isEmpty)
            #expect(live.records.errors.count == 1)
            #expect(live.records.errors.first?.error is ProxyHeaderError)
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func aConnectionOfAnUntrustedPeerIsClosed() async throws {
            let elsewhere = try #require(IPBlock("192.0.2.0/24"))
            let live = try proxied { $0.proxies.addresses = [elsewhere] }
            for _ in 0..<3 {
                let client = live.client()
                client.send(line + last)
                #expect(client.receiveToEnd() ?? "" == "")
            }
            await live.server.drain()
            #expect(live.records.access.isEmpty)
            // At most one a second.
            let reasons = live.records.errors.map { ($0.error as? ProxyHeaderError)?.reason }
            #expect(reasons.first == .untrustedPeer && reasons.count < 3)
        }

        /// `UNKNOWN`: the balancer names no client, and is exempt as a proxy.
        @Test func connectionsOfTheBalancerItselfAreNotLimited() async throws {
            let live = try proxied { $0.maxConnectionsPerClient = 1 }
            let open = (0..<3).map { _ in live.client() }
            for client in open {
                client.send("PROXY UNKNOWN\r\nGET /now HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(client.receive(through: "now \n").hasPrefix("HTTP/1.1 200 ") == true)
            }
            for client in open { client.close() }
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func drippingAHeaderDoesNotExtendItsDeadline() async throws {
            let live = try proxied { $0.headDeadline = .seconds(2) }
            let client = live.client()
            // These bytes must arrive before the deadline, even on a busy machine.
            client.send("PROXY TCP4 192.0")
            #expect(client.receiveToEnd() == "")
            let silent = live.client()
            #expect(silent.receiveToEnd() == "")
            await live.server.drain()
            #expect(live.records.access.isEmpty)
            let reasons = live.records.errors.map { ($0.error as? ProxyHeaderError)?.reason }
            #expect(reasons == [.truncated])
        }

        @Test func anIncompleteHeaderIsReported() async throws {
            let live = try proxied()
            let client = live.client()
            client.send("PROXY TCP4")
            client.endInput()
            #expect(client.receiveToEnd() == "")
            // A probe that only connects is not an error.
            let probe = live.client()
            probe.endInput()
            #expect(probe.receiveToEnd() == "")
            await live.server.drain()
            #expect(live.records.errors.count == 1)
        }

        @Test func aConnectionThatAwaitsItsHeaderDoesNotDelayTheStop() async throws {
            let live = try proxied { $0.drainDeadline = .seconds(3_600) }
            let half = live.client()
            half.send("PROXY TC")
            let silent = live.client()
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
            #expect(half.receiveToEnd() ?? "" == "" && silent.receiveToEnd() ?? "" == "")
        }

        @Test func connectionsAreCountedForTheirClientNotForTheProxy() async throws {
            let live = try proxied { $0.maxConnectionsPerClient = 1 }
            let held = live.client()
            held.send(line + "GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = held.receive(through: "now \n")
            let over = try #require(live.exchange(line + last))
            #expect(over.hasPrefix("HTTP/1.1 503 ") && over.contains("Retry-After: 1\r\n"))
            let other = line.replacing("192.0.2.1", with: "192.0.2.9")
            #expect(live.exchange(other + last)?.hasPrefix("HTTP/1.1 200 ") == true)
            held.close()
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func theTotalLimitHoldsBeforeTheHeader() async throws {
            let live = try proxied { $0.maxConnections = 1 }
            let held = live.client()
            held.send(line + "GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = held.receive(through: "now \n")
            #expect(live.exchange(line + last)?.hasPrefix("HTTP/1.1 503 ") == true)
            held.close()
            await live.server.drain()
        }

        @Test func aHeaderIsMalformedWhereNoneIsExpected() async throws {
            let live = try LiveServer()
            #expect(live.exchange(line + last)?.hasPrefix("HTTP/1.1 400 ") == true)
            await live.server.drain()
        }

        @Test func theConfiguredHeaderNamesTheClient() async throws {
            let loopback = try #require(IPBlock("127.0.0.1"))
            let live = try LiveServer {
                $0.proxies.addresses = [loopback]
                $0.proxies.forwardedHeader = .forwarded
            }
            let both = "Forwarded: for=203.0.113.9\r\nX-Forwarded-For: 198.51.100.1\r\nHost"
            _ = live.exchange(last.replacing("Host", with: both))
            await live.server.drain()
            #expect(live.records.access.map(\.peer.address.description) == ["203.0.113.9"])
        }
    }
}
