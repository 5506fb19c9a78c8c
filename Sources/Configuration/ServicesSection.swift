public import AuthAPI
internal import HTTPEngine
public import Networking
internal import Platform

/// `[services]`: the listeners for mail stores, mail servers and proxies.
public struct ServicesSection: Sendable {
    /// Whether proxies get a token that they pass to the mail store.
    public enum StoreToken: String, CaseIterable, Sendable {
        case none, minimal
    }

    /// Without one there is no such listener.
    public var listen: ServicesAddress?
    /// Where a mail server looks up mailboxes, domains and senders.
    public var socketmap: ServicesAddress?
    /// The mode of the files of unix sockets.
    public var socketMode: UInt32 = 0o660
    /// The owner of the files of unix sockets. Without it they belong to the user and group of the
    /// process.
    public var socketOwner: FileOwner?
    /// The file of the secret that services send. Required for a listener that other machines can
    /// reach.
    public var secretFile: String?
    public var storeToken = StoreToken.none
    /// The servers that nginx connects mail clients to.
    public var mailBackends: [MailBackend] = []

    static let settings = [
        Setting("services.listen", \.services.listen, address.optional),
        Setting("services.socketmap", \.services.socketmap, address.optional),
        Setting("services.socket_mode", \.services.socketMode, mode),
        Setting("services.socket_owner", \.services.socketOwner, owner.optional),
        Setting("services.secret_file", \.services.secretFile, Syntax.path.optional),
        Setting("services.store_token", \.services.storeToken, .oneOf),
        Setting(
            "services.mail_backends", \.services.mailBackends,
            .list(
                of: backend, 0...MailProtocol.allCases.count,
                accepts: "at most one server each for imap, pop3 and smtp"
                    + " (\"imap=127.0.0.1:143\")")),
    ]

    private static let address = Syntax<ServicesAddress>.string(
        "an address with a port (127.0.0.1:8081, [::1]:8081), or unix: and a path of at most"
            + " \(SocketFile.maxPathBytes) bytes",
        read: { ServicesAddress($0) }, write: \.text)

    private static let mode = Syntax<UInt32>.string(
        "a file mode in octal, such as \"0660\"",
        read: { text in
            guard (3...4).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
                let mode = UInt32(text, radix: 8), mode <= 0o777
            else { return nil }
            return mode
        }, write: { "0" + String($0, radix: 8) })

    private static let owner = Syntax<FileOwner>.string(
        "a user, a user and a group, or a group, by name or number (\"postern:mail\", \":mail\")",
        read: { FileOwner($0) }, write: \.text)

    private static let backend = Syntax<MailBackend>.string(
        "a protocol and an address", read: { MailBackend($0) }, write: \.text)
}

/// Where mail stores, mail servers and proxies connect to.
public enum ServicesAddress: Equatable, Sendable {
    case tcp(SocketAddress)
    case unix(path: String)

    init?(_ text: String) {
        let prefix = "unix:"
        guard text.hasPrefix(prefix) else {
            guard let address = SocketAddress(text) else { return nil }
            self = .tcp(address)
            return
        }
        let path = String(text.dropFirst(prefix.count))
        guard (1...SocketFile.maxPathBytes).contains(path.utf8.count),
            path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        self = .unix(path: path)
    }

    /// An address with port 0, where the kernel chooses one.
    init?(anyPortOf text: String) {
        guard text.hasSuffix(":0"), let address = SocketAddress(text.dropLast() + "1") else {
            return nil
        }
        self = .tcp(SocketAddress(address.address, port: 0))
    }

    var text: String {
        switch self {
        case .tcp(let address): address.description
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether only programs on this machine can connect.
    var isLocal: Bool {
        switch self {
        case .tcp(let address): address.address.isLoopback
        case .unix: true
        }
    }
}

/// A user and a group, each by name or number; one of them may be missing.
public struct FileOwner: Equatable, Sendable {
    public let user: String?
    public let group: String?

    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, parts.contains(where: { !$0.isEmpty }),
            parts.allSatisfy({ $0.utf8.count <= 32 && $0.utf8.allSatisfy(Self.isNameByte) })
        else { return nil }
        user = parts[0].isEmpty ? nil : parts[0]
        group = parts.count == 2 && !parts[1].isEmpty ? parts[1] : nil
    }

    var text: String { (user ?? "") + (group.map { ":\($0)" } ?? "") }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_.-$".utf8.contains(byte)
        }
    }
}

/// A server of one mail protocol.
public struct MailBackend: Equatable, Sendable {
    public let mailProtocol: MailProtocol
    public let address: SocketAddress

    init?(_ text: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let mailProtocol = MailProtocol(rawValue: parts[0]),
            let address = SocketAddress(parts[1])
        else { return nil }
        self.mailProtocol = mailProtocol
        self.address = address
    }

    var text: String { "\(mailProtocol.rawValue)=\(address)" }
}
