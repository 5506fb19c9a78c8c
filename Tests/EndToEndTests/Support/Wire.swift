internal import Glibc
internal import StrictJSON

/// One connection to a server on the loopback: octets out, answers in. Every wait ends.
final class Wire {
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
        guard connected == 0 else { throw TestFault("cannot connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ octets: [UInt8]) throws {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TestFault("cannot send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Nothing further will be sent.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next answer whole, or why there is none.
    func answer() throws -> Answer {
        var head: [String] = []
        while true {
            let line = try line()
            if line.isEmpty { break }
            head.append(line)
        }
        guard let first = head.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.dropFirst(9).prefix(3))
        else { throw TestFault("not an answer: \(head)") }
        let fields = head.dropFirst().map { field in
            let parts = field.split(separator: ":", maxSplits: 1)
            let value = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
            return (name: parts[0].lowercased(), value: String(value))
        }
        let length = fields.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        while waiting.count < length {
            guard try more() else { throw TestFault("closed inside a body") }
        }
        defer { waiting.removeFirst(length) }
        return Answer(status: status, fields: fields, body: Array(waiting[..<length]))
    }

    /// Whether the server closes without a further octet.
    func ended() throws -> Bool {
        while try more() {}
        return waiting.isEmpty
    }

    private func line() throws -> String {
        while true {
            if let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
                guard end > 0, waiting[end - 1] == UInt8(ascii: "\r") else {
                    throw TestFault("a bare line feed")
                }
                defer { waiting.removeFirst(end + 1) }
                return String(decoding: waiting[..<(end - 1)], as: UTF8.self)
            }
            guard try more() else { throw TestFault("closed inside a head") }
        }
    }

    private func more() throws -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, Deadline(seconds: 20).milliseconds) > 0 else {
            throw TestFault("no answer in time")
        }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        // A reset ends the connection as well.
        if count > 0 { waiting += piece[..<count] }
        return count > 0
    }
}

struct Answer {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONObject {
        guard let object = try JSONValue.parse(body).object else {
            throw TestFault("not an object: \(text)")
        }
        return object
    }

    /// A text member of the body; members inside objects are named with a dot between.
    func member(_ path: String) throws -> String {
        var value: JSONValue? = .object(try json())
        for name in path.split(separator: ".") { value = value?.object?[String(name)] }
        guard let text = value?.string else { throw TestFault("no \(path) in \(text)") }
        return text
    }
}
