import Dispatch
import Glibc
import Synchronization

/// Stands between a client and a PostgreSQL server, on unix sockets, and can break connections at
/// chosen moments.
final class CuttingProxy: Sendable {
    enum Cut: Sendable {
        /// The next answer of the server is dropped, and its connection closed. The server has done
        /// by then what it was asked.
        case answer
        /// The next request of a client is dropped, and its connection closed.
        case request
    }

    private struct State {
        var cut: Cut?
        var cuts = 0
        var connections = 0
        var isRefusing = false
        var isIgnoring = false
        var open: [Int32] = []
    }

    let directory: TemporaryDirectory
    private let listener: Int32
    private let server: String
    private let state = Mutex(State())

    /// - Parameter server: the directory of the server's socket.
    init(to server: String) throws {
        self.server = server
        directory = try TemporaryDirectory()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.withAddress(directory.path, { bind(listener, $0, $1) }) == 0,
            listen(listener, 50) == 0
        else { throw StorageFixtureFailure(errno: errno) }
        let queue = DispatchQueue(label: "proxy")
        queue.async { [self] in accept() }
    }

    /// Ends every connection and the proxy.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        breakConnections()
    }

    /// How many connections were made.
    var connections: Int { state.withLock { $0.connections } }

    /// How many connections were cut.
    var cuts: Int { state.withLock { $0.cuts } }

    func cut(_ next: Cut) {
        state.withLock { $0.cut = next }
    }

    /// While `true`, new connections are closed at once.
    func refuse(_ isRefusing: Bool) {
        state.withLock { $0.isRefusing = isRefusing }
    }

    /// From now on, new connections are kept and get no answer.
    func ignore() {
        state.withLock { $0.isIgnoring = true }
    }

    func breakConnections() {
        state.withLock { state in
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            state.open = []
        }
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { return }
            let isIgnored = state.withLock { state in
                guard state.isIgnoring else { return false }
                state.connections += 1
                state.open.append(client)
                return true
            }
            if isIgnored { continue }
            let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let isRefused = state.withLock { state in
                state.connections += 1
                if !state.isRefusing { state.open += [client, upstream] }
                return state.isRefusing
            }
            guard !isRefused, Self.withAddress(server, { connect(upstream, $0, $1) }) == 0 else {
                Glibc.close(client)
                Glibc.close(upstream)
                continue
            }
            let pair = DispatchGroup()
            for (from, to, kind) in [(client, upstream, Cut.request), (upstream, client, .answer)] {
                DispatchQueue(label: "proxy.pipe").async(group: pair) { [self] in
                    pipe(from, to, kind)
                    shutdown(from, Int32(SHUT_RDWR))
                    shutdown(to, Int32(SHUT_RDWR))
                }
            }
            pair.notify(queue: DispatchQueue(label: "proxy.end")) { [self] in
                state.withLock { $0.open.removeAll { $0 == client || $0 == upstream } }
                Glibc.close(client)
                Glibc.close(upstream)
            }
        }
    }

    private func pipe(_ from: Int32, _ to: Int32, _ kind: Cut) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { return }
            let isCut = state.withLock { state in
                guard state.cut == kind else { return false }
                state.cut = nil
                state.cuts += 1
                return true
            }
            // A signal would end the tests.
            guard !isCut, send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                return
            }
        }
    }

    private static func withAddress(
        _ directory: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: "\(directory)/.s.PGSQL.5432".utf8)
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
