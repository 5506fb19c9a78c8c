// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
import CCurl
import CResolver
import Dispatch
import Glibc
import TestPrimitives

/// A server on a free port of 127.0.0.1, each connection on a queue of its own.
final class Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let accepted: Level
    private let queue = DispatchQueue(label: "listener")

    /// - Parameter serve: gets each accepted connection, which is closed when it returns.
    init(_ serve: @escaping @Sendable (Int32) -> Void) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { raw in
            let generic = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            bind(descriptor, generic, length)
            listen(descriptor, 16)
            getsockname(descriptor, generic, &length)
        }
        port = UInt16(bigEndian: address.sin_port)
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
    convenience init(answer: String) {
        self.init { connection in
            _ = Listener.readHead(connection)
            Listener.send(answer, connection)
        }
    }

    /// Connections taken so far.
    var visits: Int { accepted.value }

    /// Returns once so many connections have been taken.
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

    /// - Returns: whether the client still takes it.
    @discardableResult
    static func send(_ text: String, _ connection: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Whether the client is gone, or goes within so many milliseconds.
    static func isClosed(_ connection: Int32, within milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) != 0
    }

    deinit {
        // Wakes the accepting thread, which closes it.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
