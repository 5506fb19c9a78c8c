import CSocket
import Glibc
import Networking
import Scheduling
import Testing

@testable import HTTPEngine

/// Two connected non-blocking sockets.
private func socketPair() -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    #expect(socketpair(AF_UNIX, type, 0, &pair) == 0)
    return (pair[0], pair[1])
}

@Suite struct PlainTransportTests {
    @Test func bytesGoThroughAndTheEndIsReported() {
        let (near, far) = socketPair()
        defer { close(far) }
        let transport = PlainTransport(descriptor: near)
        #expect(transport.handshake() == .done)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(
            buffer.withUnsafeMutableBytes { transport.receive(into: $0) }
                == .wouldBlock(until: .readable))
        #expect(write(far, "hello", 5) == 5)
        #expect(buffer.withUnsafeMutableBytes { transport.receive(into: $0) } == .bytes(5))
        #expect(buffer.prefix(5) == ArraySlice("hello".utf8))
        #expect([UInt8]("bye".utf8).withUnsafeBytes { transport.send($0) } == .bytes(3))
        transport.endOutput()
        #expect(read(far, &buffer, 8) == 3 && read(far, &buffer, 8) == 0)
        shutdown(far, Int32(SHUT_WR))
        #expect(buffer.withUnsafeMutableBytes { transport.receive(into: $0) } == .end)
        transport.close()
    }

    @Test func aFullSocketWaitsAndAClosedOneFails() {
        let (near, far) = socketPair()
        let transport = PlainTransport(descriptor: near)
        let block = [UInt8](repeating: 0, count: 65_536)
        var result = TransferResult.bytes(0)
        while case .bytes = result { result = block.withUnsafeBytes { transport.send($0) } }
        #expect(result == .wouldBlock(until: .writable))
        close(far)
        #expect(block.withUnsafeBytes { transport.send($0) } == .failed(EPIPE))
        transport.close()
    }
}

/// A transport whose handshake is one byte from the client, and one to it.
private struct KnockTransport: Transport {
    private var plain: PlainTransport

    init(descriptor: Int32) { plain = PlainTransport(descriptor: descriptor) }

    var descriptor: Int32 { plain.descriptor }
    var isEncrypted: Bool { false }

    mutating func handshake() -> HandshakeResult {
        var byte: [UInt8] = [0]
        switch byte.withUnsafeMutableBytes({ plain.receive(into: $0) }) {
        case .bytes:
            _ = byte.withUnsafeBytes { plain.send($0) }
            return .done
        case .wouldBlock(let readiness): return .wouldBlock(until: readiness)
        case .end: return .failed(0)
        case .failed(let code): return .failed(code)
        }
    }

    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        plain.receive(into: buffer)
    }
    mutating func send(_ bytes: UnsafeRawBufferPointer) -> TransferResult { plain.send(bytes) }
    mutating func endOutput() { plain.endOutput() }
    mutating func close() { plain.close() }
}

extension Live {
    /// A connection on a transport with a handshake.
    @Suite struct Handshake {
        private func connection() async throws -> (Loop, RawClient, ConnectionLimiter) {
            let (near, far) = socketPair()
            // The client blocks while it waits.
            _ = fcntl(far, F_SETFL, fcntl(far, F_GETFL) & ~O_NONBLOCK)
            let context = ServerContext(
                configuration: ServerConfiguration(), hooks: ServerHooks())
            _ = context.limiter.acquire(.loopback)
            let executor = try EventLoop(label: "test")
            executor.run()
            let loop = Loop(context: context, index: 0, of: 1, idPrefix: 1, on: executor)
            let router = Router(
                groups: [
                    RouteGroup(
                        prefixes: [], errors: { error, _ in Response(status: error.status) },
                        routes: [Route(.get, "/now") { _ in .text("now\n") }])
                ], fallback: { error, _ in Response(status: error.status) })
            let service = HTTPService(
                router: router, proxies: TrustedProxies(), sharesLimits: true)
            await loop.run()
            await loop.adopt(
                ConnectionTransport(KnockTransport(descriptor: near)),
                from: SocketAddress(.loopback, port: 0), service, as: .counted)
            return (loop, RawClient(descriptor: far), context.limiter)
        }

        @Test func nothingIsReadOrSentBeforeTheHandshakeIsDone() async throws {
            let (loop, client, limiter) = try await connection()
            client.send("!GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = try #require(client.receiveToEnd())
            #expect(text.hasPrefix("!HTTP/1.1 200 ") && text.hasSuffix("now\n"))
            #expect(limiter.total == 0)
            await loop.shutDown()
            loop.executor.stop()
        }

        @Test func aHandshakeThatFailsClosesTheConnection() async throws {
            let (loop, client, limiter) = try await connection()
            client.endInput()
            #expect(client.receiveToEnd() == "")
            await loop.drain()
            #expect(limiter.total == 0)
            await loop.shutDown()
            loop.executor.stop()
        }
    }
}
