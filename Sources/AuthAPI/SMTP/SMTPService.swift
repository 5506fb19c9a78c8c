public import HTTPEngine
public import LocalMail
public import Networking
public import Scheduling

/// The SMTP service of a listener, which delivers to the mail in this process.
///
/// Addresses are looked up and small messages delivered on the connection's loop. A larger message
/// is read by a pool, so that it does not delay other connections.
public struct SMTPService: Sendable {
    public struct Settings: Sendable {
        /// The domain of the server, in its greeting and in the Received field.
        public var serverName: String
        public var limits = SMTPLimits()
        public var maxConnections = SMTPService.connections
        /// Bytes that the messages that are being received may take together.
        public var heldBytes = 67_108_864

        public init(serverName: String) {
            self.serverName = serverName
        }
    }

    /// What became of a name and a password.
    public enum Authentication: Hashable, Sendable {
        case account(MailAccount)
        /// They are not those of an account.
        case rejected
        /// There were too many attempts, or they could not be checked.
        case unavailable
    }

    /// The most bytes of a message that is read on the loop: it costs less than the change to
    /// another thread and back.
    private static let immediateBytes = 16_384

    private static let connections = 1_000

    private let mail: LocalMail
    private let settings: Settings
    let pool: WorkerPool
    private let now: @Sendable () -> MailInstant
    private let authenticate:
        @Sendable (_ name: String, _ password: String, _ client: IPAddress) async throws ->
            Authentication

    /// Makes the pool that reads large messages. The caller must keep it when settings change.
    ///
    /// It has a place for every connection and no shares: all programs on this machine are one
    /// client, and a message must not be refused because there are many.
    public static func makePool() -> WorkerPool {
        WorkerPool(name: "smtp", lanes: 2, depth: connections, shares: .unlimited)
    }

    /// - Parameters:
    ///   - pool: of ``makePool()``.
    ///   - now: for the Received field.
    ///   - authenticate: an error that it throws is reported, and the client gets 454.
    public init(
        mail: LocalMail, settings: Settings, pool: WorkerPool,
        now: @escaping @Sendable () -> MailInstant,
        authenticate:
            @escaping @Sendable (_ name: String, _ password: String, _ client: IPAddress)
            async throws -> Authentication
    ) {
        self.mail = mail
        self.settings = settings
        self.pool = pool
        self.now = now
        self.authenticate = authenticate
    }

    public var sessions: SessionService {
        var limits = SessionService.Limits(connections: settings.maxConnections)
        limits.heldBytes = settings.heldBytes
        limits.time = settings.limits.sessionTime
        limits.rejection = Array(
            "421 4.3.2 \(settings.serverName) has too many connections\r\n".utf8)
        let settings = settings
        return SessionService(
            limits: limits,
            session: { client in
                SMTPConnection(
                    SMTPSession(serverName: settings.serverName, limits: settings.limits),
                    client: client.address)
            }, answer: answer)
    }

    private func answer(_ question: SMTPConnection.Question) async throws -> SMTPAnswer {
        switch question.action {
        case .verify(let name, let password):
            switch try await authenticate(name, password, question.client) {
            case .account(let account): return .signedIn(account)
            case .rejected: return .wrongPassword
            case .unavailable: return .failed(.temporary)
            }
        case .checkSender(let address, let account):
            do throws(DeliveryFailure) {
                let isOwn = try await mail.isAddress(address, of: account)
                return isOwn ? .accepted : .failed(.unknownRecipient)
            } catch {
                return .failed(error)
            }
        case .checkRecipient(let address):
            switch await mail.owner(ofRecipient: address) {
            case .success: return .accepted
            case .failure(let failure): return .failed(failure)
            }
        case .deliver(let message): return try await deliver(message, from: question.client)
        case .send, .close: preconditionFailure("these are no questions")
        }
    }

    private func deliver(
        _ message: SMTPMessage, from client: IPAddress
    ) async throws -> SMTPAnswer {
        let trace = SMTPTrace(
            message: message, client: client, serverName: settings.serverName, at: now()
        ).bytes
        let content: MailContent
        do {
            content = try await read(message.bytes, trace: trace, for: client)
        } catch let failure as DeliveryFailure {
            return .failed(failure)
        } catch is WorkerPool.Full {
            return .failed(.temporary)
        }
        return .delivered(
            await mail.deliver(content, from: message.mailFrom, to: message.recipients))
    }

    private func read(
        _ message: [UInt8], trace: [UInt8], for client: IPAddress
    ) async throws -> MailContent {
        guard message.count > Self.immediateBytes else {
            return try mail.content(of: message, trace: trace)
        }
        return try await pool.run(for: client) { [mail] in
            try mail.content(of: message, trace: trace)
        }
    }
}
