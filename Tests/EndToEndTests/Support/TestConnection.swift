internal import Glibc
internal import StrictJSON

/// One connection to a server on the loopback address, which sends bytes and reads responses. Every
/// wait has a deadline.
final class TestConnection {
    private let descriptor: Int32
    private var waiting: [UInt8] = []

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, length)
            }
        }
        guard connected == 0 else { throw TestError("cannot connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TestError("cannot send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Closes the connection for sending.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads the next response.
    func response() throws -> Response {
        var head: [String] = []
        while true {
            let line = try line()
            if line.isEmpty { break }
            head.append(line)
        }
        guard let first = head.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.dropFirst(9).prefix(3))
        else { throw TestError("not a response: \(head)") }
        let fields = head.dropFirst().map { field in
            let parts = field.split(separator: ":", maxSplits: 1)
            let value = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
            return (name: parts[0].lowercased(), value: String(value))
        }
        let length = fields.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        while waiting.count < length {
            guard try more() else { throw TestError("closed inside a body") }
        }
        defer { waiting.removeFirst(length) }
        return Response(status: status, fields: fields, body: Array(waiting[..<length]))
    }

    /// Whether the server closes the connection without another byte.
    func ended() throws -> Bool {
        while try more() {}
        return waiting.isEmpty
    }

    private func line() throws -> String {
        while true {
            if let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
                guard end > 0, waiting[end - 1] == UInt8(ascii: "\r") else {
                    throw TestError("a bare line feed")
                }
                defer { waiting.removeFirst(end + 1) }
                return String(decoding: waiting[..<(end - 1)], as: UTF8.self)
            }
            guard try more() else { throw TestError("closed inside a head") }
        }
    }

    private func more() throws -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, Deadline().milliseconds) > 0 else {
            throw TestError("no response in time")
        }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        // A reset ends the connection, too.
        if count > 0 { waiting += piece[..<count] }
        return count > 0
    }
}

struct Response {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONObject {
        guard let object = try JSONValue.parse(body).object else {
            throw TestError("not an object: \(text)")
        }
        return object
    }

    /// A string member of the body; a dot separates the names of nested members.
    func member(_ path: String) throws -> String {
        var value: JSONValue? = .object(try json())
        for name in path.split(separator: ".") { value = value?.object?[String(name)] }
        guard let text = value?.string else { throw TestError("no \(path) in \(text)") }
        return text
    }
}
