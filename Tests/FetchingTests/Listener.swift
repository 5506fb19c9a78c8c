// All three: which module the compiler takes the system's socket types from depends on the order in
// which it loads them.
import CCurl
import CResolver
import Dispatch
import Glibc
import Networking
import TestPrimitives

@testable import Fetching

/// A server on a free port of a loopback address, with a queue for each connection.
final class Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let accepted: Level
    private let queue = DispatchQueue(label: "listener")

    /// - Parameters:
    ///   - address: 127.0.0.1 unless given.
    ///   - port: a free one unless given.
    ///   - serve: gets each accepted connection, which is closed when it returns.
    init(
        on address: IPAddress = .loopback, port: UInt16 = 0,
        _ serve: @escaping @Sendable (Int32) -> Void
    ) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard SocketAddress(address, port: port).bind(descriptor) == 0, listen(descriptor, 16) == 0,
            let address = SocketAddress(boundTo: descriptor)
        else { fatalError("no port: \(errno)") }
        self.port = address.port
        self.descriptor = descriptor
        let visits = Level()
        accepted = visits
        queue.async {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                visits.raise()
                DispatchQueue(label: "connection").async {
                    serve(connection)
                    close(connection)
                }
            }
            close(descriptor)
        }
    }

    /// Answers every request with this text.
    convenience init(on address: IPAddress = .loopback, port: UInt16 = 0, answer: String) {
        self.init(on: address, port: port) { connection in
            _ = Listener.readHead(connection)
            Listener.send(answer, connection)
        }
    }

    /// Answers each request without a body, when `gate` is opened for it.
    convenience init(heldBy gate: Gate) {
        self.init { connection in
            _ = Listener.readHead(connection)
            gate.hold()
            Listener.send(Self.ok, connection)
        }
    }

    /// Answers requests without a body until the client closes the connection.
    convenience init(on address: IPAddress = .loopback, port: UInt16 = 0, keeping answer: String) {
        self.init(on: address, port: port) { connection in
            while Listener.readHead(connection).hasSuffix("\r\n\r\n") {
                Listener.send(answer, connection)
            }
        }
    }

    /// Answers each request without a body, the first ones when two have arrived. Counts the
    /// requests that it has not answered yet.
    convenience init(countingIn inside: Tally) {
        self.init { connection in
            _ = Listener.readHead(connection)
            inside.enter()
            while inside.most < 2 { _ = Listener.isClosed(connection, within: 5) }
            // Long enough for a third to arrive if it did not wait.
            _ = Listener.isClosed(connection, within: 20)
            inside.leave()
            Listener.send(Listener.ok, connection)
        }
    }

    /// A response without a body.
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    /// Connections accepted so far.
    var visits: Int { accepted.value }

    /// Returns once `count` connections were accepted.
    func isVisited(_ count: Int = 1) async { await accepted.reaches(count) }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    static func readHead(_ connection: Int32) -> String {
        var text = ""
        var byte: UInt8 = 0
        while !text.hasSuffix("\r\n\r\n"), Glibc.read(connection, &byte, 1) == 1 {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text
    }

    static func read(_ connection: Int32, count: Int) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = recv(connection, &bytes, count, Int32(MSG_WAITALL))
        return String(decoding: bytes.prefix(max(0, got)), as: UTF8.self)
    }

    /// - Returns: whether the client is still connected.
    @discardableResult
    static func send(_ text: String, _ connection: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Whether the client has closed the connection, or closes it within the time.
    static func isClosed(_ connection: Int32, within milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) != 0
    }

    deinit {
        // Wakes the accepting thread, which closes it.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

extension FetchRules {
    /// Plain http to hosts on this machine, on any port.
    static func local(_ change: (inout FetchLimits) -> Void = { _ in }) -> FetchRules {
        var limits = FetchLimits()
        change(&limits)
        return FetchRules(
            allowsHTTP: true, allowsPrivateNetworks: true, ports: .any, limits: limits)
    }
}
