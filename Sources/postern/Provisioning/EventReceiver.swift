internal import AuthCore
internal import Cryptography
internal import Fetching

/// The operator's program that receives an event for each change of an account:
/// `provisioning.url`.
struct EventReceiver: Sendable {
    /// The outcome of one attempt.
    enum Answer: Equatable, Sendable {
        case accepted
        /// The event was read and not accepted. It concerns this event alone.
        case rejected(cause: String)
        /// No event would be accepted now.
        case unavailable(cause: String)
    }

    /// A longer response to an event is an error.
    private static let responseBytes = 65_536
    /// The statuses by which a proxy or an overloaded server says that another attempt may succeed.
    private static let temporary: Set = [429, 502, 503, 504]

    private let url: String
    private let timeout: Duration
    private let certificateFile: String?
    private let signer: WebhookSigner
    private let names: MailNames
    private let fetcher: Fetcher

    /// - Returns: `nil` where no receiver is configured.
    /// - Throws: when its secret cannot be read.
    init?(_ config: Config) throws(ProvisioningError) {
        let settings = config.provisioning
        guard let url = settings.url, let path = settings.secretFile else { return nil }
        self.url = url.text
        timeout = settings.timeout
        certificateFile = settings.caFile
        signer = try Self.signer(from: path)
        names = MailNames(
            subject: config.mail.subject, firstDomain: config.mail.domains[0])
        fetcher = Fetcher(lanes: settings.inFlight, depth: 0)
    }

    private static func signer(from path: String) throws(ProvisioningError) -> WebhookSigner {
        var content: [UInt8]
        do throws(SecretFileError) {
            content = try SecretFile.content(at: path)
        } catch {
            throw .secret(path: path, "\(error)")
        }
        defer { content.wipe() }
        guard let signer = WebhookSigner(file: content) else {
            throw .secret(path: path, "must be \(WebhookSigner.accepted)")
        }
        return signer
    }

    func send(_ event: AccountEvent, at now: Instant) async -> Answer {
        let body = event.json(names)
        var request = OutboundRequest(
            .post, url,
            headers: [
                ("Content-Type", "application/json"), ("User-Agent", "postern/\(Process.version)"),
            ] + signer.fields(of: event.id.text, body, at: now),
            body: body, timeout: timeout, bodyLimit: Self.responseBytes)
        request.certificateFile = certificateFile
        do {
            let status = try await fetcher.send(request).status
            if (200..<300).contains(status) { return .accepted }
            let cause = "it answered with status \(status)"
            return Self.temporary.contains(status)
                ? .unavailable(cause: cause) : .rejected(cause: cause)
        } catch OutboundError.tooLarge {
            return .rejected(cause: "\(OutboundError.tooLarge)")
        } catch {
            return .unavailable(cause: "\(error)")
        }
    }
}

/// Why there can be no deliveries to the receiver of account events.
enum ProvisioningError: Error, Equatable, CustomStringConvertible {
    case secret(path: String, String)

    var description: String {
        switch self {
        case .secret(let path, let problem): "provisioning.secret_file: \(path) \(problem)"
        }
    }
}
