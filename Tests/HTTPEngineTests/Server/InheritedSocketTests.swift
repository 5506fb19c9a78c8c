import CSocket
import Glibc
import Networking
import Testing

@testable import HTTPEngine

/// A stream socket that listens, as a service manager opens it, and stays open until the end.
private final class Opened {
    let descriptor: Int32
    let port: UInt16

    init(_ address: ListenAddress = .tcp(host: "127.0.0.1", port: 0), listens: Bool = true) throws {
        let socket = try BoundSocket(address)
        if listens { try socket.listen(8) }
        // Another descriptor of the same socket, without the flags that `BoundSocket` sets.
        descriptor = dup(socket.descriptor)
        port = socket.address.port
    }

    deinit { close(descriptor) }
}

@Suite struct InheritedSocketTests {
    private func server(on socket: BoundSocket) -> Server {
        let errors: ErrorRenderer = { error, _ in Response(status: error.status) }
        let route = Route(.get, "/") { _ in .text("here\n") }
        let router = Router(
            groups: [RouteGroup(prefixes: ["/"], errors: errors, routes: [route])],
            fallback: errors)
        var configuration = ServerConfiguration()
        configuration.drainGrace = .zero
        return Server(
            configuration: configuration,
            listeners: [Listener(socket: socket, service: .http(HTTPService(router: router)))],
            hooks: ServerHooks())
    }

    @Test func itHasTheAddressThatItWasBoundToAndIsNotPassedOn() throws {
        let opened = try Opened()
        let socket = try BoundSocket(inherited: dup(opened.descriptor))
        #expect(socket.address == .tcp(host: "127.0.0.1", port: opened.port))
        #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test func whatDoesNotListenIsNotTaken() throws {
        let silent = try Opened(listens: false)
        #expect(throws: InheritedSocketError.notListening) {
            try BoundSocket(inherited: silent.descriptor)
        }
        let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(datagram) }
        #expect(throws: InheritedSocketError.noStream) { try BoundSocket(inherited: datagram) }
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        #expect(throws: InheritedSocketError.noStream) { try BoundSocket(inherited: file) }
        #expect(throws: InheritedSocketError.noStream) { try BoundSocket(inherited: 1_000_000) }
    }

    /// Whoever is on the machine may connect to it, because there is no file that could forbid it.
    @Test func anAbstractSocketIsNotTaken() throws {
        let descriptor = csocket_open(AF_UNIX)
        defer { close(descriptor) }
        // An address of the family alone: the kernel chooses an abstract name (unix(7)).
        var address = sockaddr(
            sa_family: sa_family_t(AF_UNIX),
            sa_data: (
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
            ))
        #expect(bind(descriptor, &address, socklen_t(MemoryLayout<sa_family_t>.size)) == 0)
        #expect(listen(descriptor, 8) == 0)
        #expect(throws: InheritedSocketError.noAddress) { try BoundSocket(inherited: descriptor) }
    }

    @Test func theFileOfAUnixSocketStays() throws {
        var template = Array("/tmp/postern-inherit-XXXXXX".utf8CString)
        mkdtemp(&template)
        let directory = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = "\(directory)/s"
        defer {
            unlink(path)
            rmdir(directory)
        }
        let descriptor = csocket_open(AF_UNIX)
        #expect(csocket_bind_path(descriptor, path) == 0)
        #expect(listen(descriptor, 8) == 0)
        let socket = try BoundSocket(inherited: descriptor)
        #expect(socket.address == .unix(SocketFile(path: path)))
        socket.close()
        #expect(access(path, F_OK) == 0)
    }

    @Test func whatWaitsWhenAServerStopsIsAnsweredByTheNext() async throws {
        let opened = try Opened()
        let first = server(on: try BoundSocket(inherited: dup(opened.descriptor)))
        #expect(try first.start() == [.tcp(host: "127.0.0.1", port: opened.port)])
        let early = RawClient(port: opened.port)
        early.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(early.receiveToEnd()?.hasSuffix("here\n") == true)
        await first.drain()
        let late = RawClient(port: opened.port)
        late.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let second = server(on: try BoundSocket(inherited: dup(opened.descriptor)))
        _ = try second.start()
        #expect(late.receiveToEnd()?.hasSuffix("here\n") == true)
        await second.drain()
    }
}
