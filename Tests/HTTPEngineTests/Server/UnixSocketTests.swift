import CSocket
import Glibc
import Networking
import Testing

@testable import HTTPEngine

/// A directory of one test, which is removed with this object.
private final class Directory {
    let path: String

    init() {
        var template = Array("/tmp/postern-unix-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var socket: String { "\(path)/s" }

    deinit {
        unlink(socket)
        rmdir(path)
    }
}

private func listener(_ file: SocketFile, sharesLimits: Bool = true) -> Listener {
    let errors: ErrorRenderer = { error, _ in Response(status: error.status) }
    let route = Route(.get, "/peer") { .text("\($0.peer)\n") }
    return Listener(
        address: .unix(file),
        router: Router(
            groups: [RouteGroup(prefixes: ["/"], errors: errors, routes: [route])],
            fallback: errors), sharesLimits: sharesLimits)
}

private func open(_ file: SocketFile) throws -> ListeningSocket {
    try ListeningSocket(listener(file), backlog: 8)
}

private func mode(of path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : nil
}

private func connect(to path: String) -> RawClient? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard csocket_connect_path(descriptor, path) == 0 else {
        Glibc.close(descriptor)
        return nil
    }
    return RawClient(descriptor: descriptor)
}

@Suite struct UnixSocketTests {
    private let directory = Directory()
    private var path: String { directory.socket }

    @Test(arguments: [UInt32(0o600), 0o660, 0o666])
    func theFileHasItsModeAndIsRemovedAtTheEnd(wanted: UInt32) throws {
        let socket = try open(SocketFile(path: path, mode: wanted))
        #expect(mode(of: path) == S_IFSOCK | wanted)
        #expect(socket.address.description == "unix:\(path)" && socket.address.port == 0)
        socket.close()
        #expect(mode(of: path) == nil)
    }

    @Test func theFileCanBeGivenToAGroup() throws {
        let socket = try open(
            SocketFile(path: path, mode: 0o660, owner: getuid(), group: getgid()))
        defer { socket.close() }
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_uid == getuid() && status.st_gid == getgid())
    }

    @Test func theFileOfAServerThatHasEndedIsReplaced() throws {
        let abandoned = csocket_open(AF_UNIX)
        #expect(csocket_bind_path(abandoned, path) == 0)
        Glibc.close(abandoned)
        let socket = try open(SocketFile(path: path))
        #expect(connect(to: path) != nil)
        socket.close()
    }

    @Test func aSocketInUseIsAnErrorAndStays() throws {
        let first = try open(SocketFile(path: path))
        defer { first.close() }
        let error = #expect(throws: SocketError.self) { try open(SocketFile(path: path)) }
        #expect(error?.code == EADDRINUSE)
        #expect(connect(to: path) != nil)
    }

    @Test func aFileThatIsNoSocketIsAnErrorAndStays() {
        let descriptor = Glibc.open(path, O_CREAT | O_WRONLY, 0o600)
        Glibc.close(descriptor)
        let error = #expect(throws: SocketError.self) { try open(SocketFile(path: path)) }
        #expect(error?.code == EEXIST)
        #expect(mode(of: path) == S_IFREG | 0o600)
    }

    @Test func theFileOfAnotherServerIsNotRemoved() throws {
        let first = try open(SocketFile(path: path))
        unlink(path)
        let second = try open(SocketFile(path: path))
        first.close()
        #expect(connect(to: path) != nil)
        second.close()
    }

    @Test func aPathThatIsTooLongIsAnError() {
        for length in [SocketFile.maxPathBytes, SocketFile.maxPathBytes + 1] {
            let long = directory.path + "/" + String(repeating: "x", count: length)
            let path = String(long.prefix(length))
            do {
                let socket = try open(SocketFile(path: path))
                socket.close()
                #expect(length == SocketFile.maxPathBytes)
            } catch {
                #expect(length > SocketFile.maxPathBytes)
            }
        }
    }

    @Test func requestsAreAnsweredAndTheirPeerIsThisMachine() async throws {
        let server = Server(
            configuration: ServerConfiguration(), listeners: [listener(SocketFile(path: path))],
            hooks: ServerHooks())
        #expect(try server.start().map(\.description) == ["unix:\(path)"])
        let client = try #require(connect(to: path))
        client.send("GET /peer HTTP/1.0\r\n\r\n")
        #expect(client.receiveToEnd()?.hasSuffix("\r\n\r\n127.0.0.1\n") == true)
        await server.drain()
        #expect(mode(of: path) == nil)
    }

    @Test func aListenerApartHasTheLimitsOnceMore() async throws {
        var configuration = ServerConfiguration()
        configuration.maxConnections = 2
        configuration.maxConnectionsPerClient = 2
        let limited = Directory()
        let server = Server(
            configuration: configuration,
            listeners: [
                listener(SocketFile(path: path), sharesLimits: false),
                listener(SocketFile(path: limited.socket)),
            ], hooks: ServerHooks())
        _ = try server.start()
        let request = "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n"
        func status(_ client: RawClient) -> String {
            client.send(request)
            return String(client.receive(through: "\r\n").dropFirst(9).prefix(3))
        }
        // The limits of one listener are used up, and those of the other are not.
        let open = (0..<3).compactMap { _ in connect(to: path) }
        #expect(open.map(status) == ["200", "200", "503"])
        #expect(server.statistics.openConnections == 0)
        let others = (0..<3).compactMap { _ in connect(to: limited.socket) }
        #expect(others.map(status) == ["200", "200", "503"])
        #expect(server.statistics.openConnections == 2)
        #expect(server.statistics.rejections[.connectionLimit] == 2)
        for client in open + others { client.close() }
        await server.drain()
    }
}
