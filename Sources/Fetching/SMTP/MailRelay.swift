/// A server that passes mail on to others (RFC 5321), named by the operator.
public struct MailRelay: Sendable {
    /// How the connection is encrypted.
    public enum Encryption: String, CaseIterable, Sendable {
        /// By STARTTLS (RFC 3207). A server that does not offer it gets no mail.
        case starttls
        /// From its first byte (RFC 8314 §3.3).
        case tls
        case none
    }

    /// What a client of the relay logs in with (RFC 4954).
    public struct Login: Sendable, CustomStringConvertible, CustomReflectable {
        let account: String
        let password: String

        /// - Parameters: printable ASCII.
        public init(account: String, password: String) {
            self.account = account
            self.password = password
        }

        public var description: String { "<redacted>" }
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// A name, or an address without brackets.
    public var host: String
    public var port: UInt16
    public var encryption: Encryption
    /// `nil` for a relay that asks for none.
    public var login: Login?
    /// The name of this machine for EHLO: letters, digits, `.` and `-`.
    public var clientName: String
    /// PEM certificates to trust in place of the system's.
    public var certificateFile: String?
    /// For everything: resolving, connecting, TLS, the login and the message.
    public var timeout: Duration

    public init(
        host: String, port: UInt16, encryption: Encryption, login: Login? = nil,
        clientName: String, certificateFile: String? = nil, timeout: Duration
    ) {
        self.host = host
        self.port = port
        self.encryption = encryption
        self.login = login
        self.clientName = clientName
        self.certificateFile = certificateFile
        self.timeout = timeout
    }

    /// For messages to the operator: host and port.
    public var name: String { "\(authority):\(port)" }

    private var authority: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }

    /// As libcurl reads it.
    var url: String {
        "\(encryption == .tls ? "smtps" : "smtp")://\(name)/\(clientName)"
    }
}

/// One message for one recipient.
public struct OutboundMail: Sendable {
    /// Addresses: dot-atoms at a domain, ASCII.
    public let sender: String
    public let recipient: String
    /// RFC 5322, with CRLF.
    public let bytes: [UInt8]

    public init(sender: String, recipient: String, bytes: [UInt8]) {
        self.sender = sender
        self.recipient = recipient
        self.bytes = bytes
    }
}

/// Why a relay has not taken a message.
public enum RelayError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name cannot be resolved, or nothing can be connected to.
    case unreachable
    /// There is no TLS where it was asked for, or the certificate is not trusted.
    case untrusted
    case timedOut
    /// The relay does not know the account or the password.
    case loginRejected
    /// The relay's reply code, 400 to 599.
    case rejected(code: Int)
    /// With libcurl's error code.
    case failed(code: Int)

    /// Whether the same message would be rejected again (RFC 5321 §4.2.1).
    public var isPermanent: Bool {
        switch self {
        case .loginRejected: true
        case .rejected(let code): code >= 500
        case .unreachable, .untrusted, .timedOut, .failed: false
        }
    }

    public var description: String {
        switch self {
        case .unreachable: "the relay cannot be reached"
        case .untrusted: "the relay does not offer TLS, or its certificate is not trusted"
        case .timedOut: "the relay did not answer in time"
        case .loginRejected: "the relay does not accept the account or its password"
        case .rejected(let code): "the relay answered \(code)"
        case .failed(let code): "\(curlText(code)) (curl \(code))"
        }
    }
}
