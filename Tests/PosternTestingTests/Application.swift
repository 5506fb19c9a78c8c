import Glibc
import PosternTesting
import Synchronization
import TestPrimitives

/// An application as a test suite has it: people log in with a code that it sends them by SMTP.
final class Application: Sendable {
    private let smtp: SMTPAddress
    private let codes = Mutex<[String: String]>([:])

    init(smtp: SMTPAddress) {
        self.smtp = smtp
    }

    func sendCode(to address: String) async throws {
        let code = String(Int.random(in: 100_000...999_999))
        codes.withLock { $0[address] = code }
        try await send(
            """
            From: login@shop.example
            To: \(address)
            Subject: Your code

            Your code is \(code).
            Help: https://shop.example/help
            """, to: address)
    }

    func logIn(_ address: String, code: String) -> Bool {
        codes.withLock { $0.removeValue(forKey: address) } == code
    }

    /// - Returns: the last reply.
    @discardableResult
    func send(_ message: String, to address: String) async throws -> String {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let smtp = smtp
        return try await onOwnThread {
            let connection = try Connection(to: smtp)
            for command in [
                "EHLO shop.example", "MAIL FROM:<login@shop.example>", "RCPT TO:<\(address)>",
                "DATA", lines.joined(separator: "\r\n") + "\r\n.",
            ] {
                let reply = try connection.exchange(command)
                guard reply.hasPrefix("2") || reply.hasPrefix("3") else { return reply }
            }
            return try connection.exchange("QUIT")
        }
    }
}

/// A connection to an SMTP server whose calls block.
private final class Connection {
    struct Failed: Error {}

    private let descriptor: Int32

    init(to server: SMTPAddress) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(server.port).bigEndian
        inet_pton(AF_INET, server.host, &address.sin_addr)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw Failed() }
        _ = try reply()
    }

    deinit { close(descriptor) }

    func exchange(_ command: String) throws -> String {
        let bytes = Array("\(command)\r\n".utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failed()
        }
        return try reply()
    }

    /// The last line of a reply.
    private func reply() throws -> String {
        var received = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Failed() }
            received += String(decoding: buffer[..<count], as: UTF8.self)
            let last = received.split(separator: "\r\n").last ?? ""
            if received.hasSuffix("\r\n"), last.dropFirst(3).first != "-" { return String(last) }
        }
    }
}
