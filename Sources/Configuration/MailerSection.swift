internal import AuthCore
public import Fetching
public import Mailing
internal import Networking

/// `[mailer]`: the server that mail to users is given to.
public struct MailerSection: Sendable {
    /// A name, or an address without brackets. Without one no mail is sent.
    public var host: String?
    var port: UInt16?
    public var encryption = MailRelay.Encryption.starttls
    /// Whether ``encryption`` may be `none` for a relay on another machine.
    public var allowUnencrypted = false
    public var account: String?
    /// The file of the account's password. Required with ``account``.
    public var passwordFile: String?
    /// The sender of all messages. Required with ``host``.
    public var from: MailAddress?
    /// How long one attempt may take.
    public var timeout = Duration.seconds(15)
    /// A PEM file of certificates to trust instead of the system's.
    public var certificateFile: String?

    static let settings = [
        Setting("mailer.host", \.mailer.host, hostName.optional),
        Setting("mailer.port", \.mailer.port, Syntax<UInt16>.integer(1...65_535).optional),
        Setting("mailer.tls", \.mailer.encryption, .oneOf),
        Setting("mailer.allow_unencrypted", \.mailer.allowUnencrypted, .boolean),
        Setting("mailer.account", \.mailer.account, printable.optional),
        Setting("mailer.password_file", \.mailer.passwordFile, Syntax.path.optional),
        Setting("mailer.from", \.mailer.from, address.optional),
        Setting(
            "mailer.timeout", \.mailer.timeout, .duration(.seconds(1) ... .seconds(60))),
        Setting("mailer.ca_file", \.mailer.certificateFile, Syntax.path.optional),
    ]

    /// The port that was set, or the one that is usual for the encryption (RFC 8314 §7.3).
    public var effectivePort: UInt16 {
        if let port { return port }
        return switch encryption {
        case .starttls: 587
        case .tls: 465
        case .none: 25
        }
    }

    /// Whether mail could be read on the network.
    var isExposed: Bool {
        guard let host, encryption == .none else { return false }
        return IPAddress(host).map { !$0.isLoopback } ?? (host != "localhost")
    }

    /// The rules between these settings that they break.
    var faults: [(key: String, problem: String, remedy: String)] {
        guard host != nil else { return useless }
        var faults: [(key: String, problem: String, remedy: String)] = []
        if from == nil {
            faults.append(
                (
                    "mailer.from", "is required with mailer.host",
                    "set it to the sender of all messages, such as \"postern@example.com\""
                ))
        }
        if (account == nil) != (passwordFile == nil) {
            let names = ["mailer.account", "mailer.password_file"]
            let (missing, other) = account == nil ? (names[0], names[1]) : (names[1], names[0])
            faults.append(
                (
                    missing, "is required with \(other)",
                    "set both for a relay that asks for a login, and neither for another one"
                ))
        }
        if isExposed, !allowUnencrypted {
            faults.append(
                (
                    "mailer.tls", "is \"none\" for a relay on another machine",
                    "use \"starttls\" or \"tls\", or set mailer.allow_unencrypted if nobody can"
                        + " read the network between them"
                ))
        }
        if certificateFile != nil, encryption == .none {
            faults.append(
                ("mailer.ca_file", "has no use with mailer.tls = \"none\"", "remove it"))
        }
        return faults
    }

    /// The settings without a default that were set.
    private var useless: [(key: String, problem: String, remedy: String)] {
        [
            ("mailer.port", port != nil), ("mailer.account", account != nil),
            ("mailer.password_file", passwordFile != nil), ("mailer.from", from != nil),
            ("mailer.ca_file", certificateFile != nil),
        ].filter(\.1).map { key, _ in
            (
                key, "has no use without mailer.host",
                "set mailer.host to the name of a server that takes mail for others, or remove it"
            )
        }
    }

    private static let hostName = Syntax<String>.string(
        "a host name, or an address without brackets",
        read: { text in
            if IPAddress(text) != nil { return text }
            let name = text.lowercased()
            return name == "localhost" || Domain(parsing: name) != nil ? name : nil
        }, write: { $0 })

    private static let printable = Syntax<String>.string(
        "1 to 200 printable ASCII characters",
        read: { text in
            let isAccepted =
                (1...200).contains(text.utf8.count)
                && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
            return isAccepted ? text : nil
        }, write: { $0 })

    private static let address = Syntax<MailAddress>.string(
        "an address, or a name and an address (\"Postern <postern@example.com>\")",
        read: { MailAddress($0) }, write: \.text)
}
