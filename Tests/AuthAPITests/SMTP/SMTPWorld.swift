import AuthAPI
import Glibc
import HTTPEngine
import LocalMail
import Synchronization
import TestPrimitives

/// An SMTP server on a free port with mail of accounts whose addresses are `NAME@here.test`.
/// `lost@here.test` cannot be looked up.
struct SMTPWorld {
    let mail: LocalMail
    let server: Server
    let port: UInt16
    let errors = Record<String>()
    /// Look-ups of `gate@here.test` that wait for `gate`.
    let arrivals = Level()
    let gate = Latch()

    init(_ adjust: (inout SMTPService.Settings) -> Void = { _ in }) throws {
        let (errors, arrivals, gate) = (errors, arrivals, gate)
        mail = LocalMail(
            MailEnvironment(
                reader: SubjectReader(), now: { MailInstant(milliseconds: 784_111_777_000) },
                random: { 7 },
                owner: { address in
                    guard let name = Self.name(of: address) else { return .elsewhere }
                    if name == "gate" {
                        arrivals.raise()
                        await gate.wait()
                    }
                    switch name {
                    case "nobody": return .unknown
                    case "lost": return .unavailable
                    default: return .account(Self.account(name))
                    }
                }, quota: { _ in 100 << 20 }))
        var settings = SMTPService.Settings(serverName: "mx.here.test")
        adjust(&settings)
        let service = SMTPService(
            mail: mail, settings: settings, pool: SMTPService.makePool(),
            now: { MailInstant(milliseconds: 784_111_777_000) }
        ) { name, password, client in
            switch password {
            case "secret": return .account(Self.account(name))
            case "busy": return .unavailable
            case "broken": throw Broken()
            default: return .rejected
            }
        }
        var configuration = ServerConfiguration()
        configuration.loops = 2
        configuration.lingerDeadline = .milliseconds(50)
        server = Server(
            configuration: configuration,
            listeners: [
                Listener(
                    address: .tcp(host: "127.0.0.1", port: 0),
                    service: .session(service.sessions))
            ], hooks: ServerHooks(error: { errors.add("\($0.error)") }))
        port = try server.start()[0].port
    }

    func client() -> SMTPClient { SMTPClient(port: port) }

    /// The messages of an account, as they were stored.
    func messages(of name: String) async throws -> [String] {
        let account = Self.account(name)
        var texts: [String] = []
        for listing in try await mail.messages(of: account, page: 1) {
            let source = try mail.content(of: listing.id, of: account).content.bytes
            texts.append(String(decoding: source, as: UTF8.self))
        }
        return texts
    }

    private struct Broken: Error {}

    @Sendable private static func name(of address: String) -> String? {
        let parts = address.split(separator: "@")
        return parts.count == 2 && parts[1] == "here.test" ? String(parts[0]) : nil
    }

    @Sendable private static func account(_ name: String) -> MailAccount {
        MailAccount(id: name, address: "\(name)@here.test")
    }
}

/// A client that sends exactly the bytes that it is given, and blocks no thread of Swift tasks.
final class SMTPClient: Sendable {
    private let descriptor: Int32

    init(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var time = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        try await onOwnThread { self.write(bytes) }
    }

    private func write(_ bytes: [UInt8]) {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + start }, bytes.count - start,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            start += count
        }
    }

    /// Sends no more, and returns everything up to the server's end of the stream.
    func finish() async throws -> String {
        shutdown(descriptor, Int32(SHUT_WR))
        return try await receive(through: nil)
    }

    /// Everything up to this text, and what came with it; up to the end for nil.
    func receive(through text: String?) async throws -> String {
        try await onOwnThread { self.read(through: text) }
    }

    private func read(through text: String?) -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { all += buffer[..<count] }
            let received = String(decoding: all, as: UTF8.self)
            if count <= 0 || text.map(received.contains) ?? false { return received }
        }
    }
}

/// The code of each reply.
func codes(of text: String) -> [Int] {
    text.split(separator: "\r\n").filter { $0.dropFirst(3).first != "-" }
        .compactMap { Int($0.prefix(3)) }
}
