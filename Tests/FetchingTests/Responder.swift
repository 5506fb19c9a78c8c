// All three: which module the compiler takes the system's socket types from depends on the order in
// which it loads them.
import CCurl
import CResolver
import Dispatch
import Glibc
import Networking
import Synchronization

/// A nameserver on 127.0.0.1 with a test's own answers, in datagrams and over TCP.
final class Responder: Sendable {
    let port: UInt16
    private let datagrams: Int32
    private let streams: Int32
    private let seen = Mutex(0)
    private let queues = [DispatchQueue(label: "dns.udp"), DispatchQueue(label: "dns.tcp")]

    /// - Parameters:
    ///   - answer: the datagrams that are sent after a query.
    ///   - stream: what is sent on a connection after a query, its length included.
    init(
        stream: @escaping @Sendable ([UInt8]) -> [UInt8] = { _ in [] },
        answer: @escaping @Sendable ([UInt8]) -> [[UInt8]]
    ) {
        (datagrams, streams, port) = Self.openBoth()
        listen(streams, 4)
        queues[0].async { [datagrams, weak self] in
            var buffer = [UInt8](repeating: 0, count: 1024)
            var from = sockaddr_in()
            while true {
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let count = withUnsafeMutablePointer(to: &from) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(datagrams, &buffer, buffer.count, 0, $0, &size)
                    }
                }
                guard count > 0 else { break }
                self?.seen.withLock { $0 += 1 }
                for datagram in answer(Array(buffer[..<count])) {
                    withUnsafePointer(to: &from) { pointer in
                        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            _ = sendto(datagrams, datagram, datagram.count, 0, $0, size)
                        }
                    }
                }
            }
            close(datagrams)
        }
        queues[1].async { [streams] in
            while true {
                let connection = accept(streams, nil, nil)
                guard connection >= 0 else { break }
                var buffer = [UInt8](repeating: 0, count: 1024)
                let count = recv(connection, &buffer, buffer.count, 0)
                let reply = stream(Array(buffer[..<max(0, count)].dropFirst(2)))
                _ = send(connection, reply, reply.count, Int32(MSG_NOSIGNAL))
                // Without a reply the connection stays open until the client closes it.
                if reply.isEmpty { _ = recv(connection, &buffer, 1, 0) }
                close(connection)
            }
            close(streams)
        }
    }

    /// Queries that came as datagrams.
    var queries: Int { seen.withLock { $0 } }

    deinit {
        // Wake both threads, which close them.
        shutdown(datagrams, Int32(SHUT_RDWR))
        shutdown(streams, Int32(SHUT_RDWR))
    }

    /// A port that is free for both. A port that is free for TCP may be used for UDP, so it may
    /// take a few tries.
    private static func openBoth() -> (datagrams: Int32, streams: Int32, port: UInt16) {
        for _ in 0..<100 {
            let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            let streams = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            if let port = bind(streams, to: 0), bind(datagrams, to: port) != nil {
                return (datagrams, streams, port)
            }
            close(datagrams)
            close(streams)
        }
        fatalError("no port is free for both UDP and TCP")
    }

    /// - Returns: the port; `nil` when it is taken.
    private static func bind(_ descriptor: Int32, to port: UInt16) -> UInt16? {
        guard SocketAddress(.loopback, port: port).bind(descriptor) == 0 else { return nil }
        return SocketAddress(boundTo: descriptor)?.port
    }
}

/// DNS messages, byte by byte (RFC 1035 §4).
enum Message {
    static let text: UInt16 = 16
    static let mailExchanger: UInt16 = 15
    static let alias: UInt16 = 5

    struct Record {
        let type: UInt16
        let data: [UInt8]
    }

    /// An answer to `query` with these records, each at the name that was asked for.
    static func answer(
        to query: [UInt8], code: UInt8 = 0, truncated: Bool = false, _ records: [Record] = []
    ) -> [UInt8] {
        var message = query
        message[2] = 0x81 | (truncated ? 0x02 : 0)
        message[3] = 0x80 | code
        message[6] = UInt8(records.count >> 8)
        message[7] = UInt8(truncatingIfNeeded: records.count)
        for record in records {
            // The name is a pointer to that of the question.
            message += [0xc0, 12] + bytes(record.type) + [0, 1, 0, 0, 0, 60]
            message += bytes(UInt16(record.data.count)) + record.data
        }
        return message
    }

    static func text(_ strings: String...) -> Record {
        Record(type: text, data: strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
    }

    static func mailExchanger(_ preference: UInt16, _ host: String) -> Record {
        Record(type: mailExchanger, data: bytes(preference) + name(host))
    }

    static func name(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func bytes(_ number: UInt16) -> [UInt8] {
        [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    /// As it is sent over TCP.
    static func framed(_ message: [UInt8]) -> [UInt8] {
        bytes(UInt16(message.count)) + message
    }
}

/// Counts from one.
final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
