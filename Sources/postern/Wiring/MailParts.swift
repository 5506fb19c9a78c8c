internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Fetching
internal import Logging
internal import Mailing
internal import Networking
internal import Platform
internal import Scheduling

extension MailRelay {
    /// The relay of the configuration; `nil` where there is none.
    /// - Throws: ``MailerError``.
    init?(_ config: Config, publicURL: String) throws(MailerError) {
        let mailer = config.mailer
        guard let host = mailer.host else { return nil }
        var login: Login?
        if let account = mailer.account, let path = mailer.passwordFile {
            login = Login(account: account, password: try Self.password(at: path))
        }
        let name = BaseURL(publicURL)?.host ?? "localhost"
        self.init(
            host: host, port: mailer.effectivePort, encryption: mailer.encryption, login: login,
            clientName: IPAddress(name) == nil ? name : "localhost",
            certificateFile: mailer.certificateFile, timeout: mailer.timeout)
    }

    /// The first line of the file.
    private static func password(at path: String) throws(MailerError) -> String {
        var content: [UInt8]
        do throws(SecretFileError) {
            content = try SecretFile.content(at: path)
        } catch {
            throw MailerError(path: path, problem: "\(error)")
        }
        defer { content.wipe() }
        let line = content.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            throw MailerError(
                path: path, problem: "does not begin with a line of printable ASCII characters")
        }
        return String(decoding: line, as: UTF8.self)
    }
}

/// The password of the relay cannot be used.
struct MailerError: Error, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "mailer.password_file: \(path) \(problem)" }
}

extension MailQueue {
    /// The queue of a server; `nil` where no relay is configured.
    /// - Throws: ``MailerError``.
    convenience init?(
        _ config: Config, publicURL: String, report: @escaping @Sendable (RemoteFailure) -> Void
    ) throws(MailerError) {
        guard let relay = try MailRelay(config, publicURL: publicURL),
            let sender = config.mailer.from
        else { return nil }
        let client = RelayClient(relay)
        self.init(
            Settings(
                sender: sender, serverName: BaseURL(publicURL)?.host ?? publicURL,
                publicURL: publicURL, shares: config.limits.queueShares),
            deliver: { try await client.send($0) },
            report: { report(.mailer($0, relay: relay.name)) }, random: RandomBytes.make)
    }
}

extension MailQueue.Report {
    func log(to logger: Logger, relay: String) {
        switch self {
        case .unavailable(let cause):
            logger.warning(
                "the mail relay is not available",
                metadata: ["relay": "\(relay)", "cause": "\(cause)"])
        case .availableAgain:
            logger.notice("the mail relay is available again", metadata: ["relay": "\(relay)"])
        case .failed(let user, let cause, let attempts):
            logger.warning(
                "a message to a user was not sent",
                metadata: [
                    "user": "\(user)", "relay": "\(relay)", "cause": "\(cause)",
                    "attempts": "\(attempts)",
                ])
        case .unprepared(let error):
            logger.error("a message to a user could not be made", error: error)
        }
    }
}

extension Metrics {
    /// - Parameter results: of no messages where the server sends none.
    nonisolated func addMails(_ results: Counters<MailQueue.Result>) {
        add { text in
            text.begin(
                "postern_mails_total", .counter, "What has happened to the messages to users.")
            for result in MailQueue.Result.allCases {
                text.sample([("result", result.rawValue)], results.value(result))
            }
        }
    }
}
