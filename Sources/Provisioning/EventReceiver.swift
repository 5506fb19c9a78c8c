public import AuthCore
internal import Cryptography
internal import Fetching
internal import Platform

/// The operator's program that receives an event for each change of an account:
/// `provisioning.url`.
public struct EventReceiver: Sendable {
    /// The outcome of one attempt.
    public enum Answer: Equatable, Sendable {
        case accepted
        /// The event was read and not accepted. It concerns this event alone.
        case rejected(cause: String)
        /// No event would be accepted now.
        case unavailable(cause: String)
    }

    /// A longer response to an event is an error.
    private static let responseBytes = 65_536
    /// The statuses with which a proxy or an overloaded server announces that another attempt may
    /// succeed.
    private static let temporary: Set = [429, 502, 503, 504]

    public struct Settings: Sendable {
        let url: String
        /// The file of the secrets that events are signed with, as ``WebhookSigner/accepted`` says.
        let secretFile: String
        /// How the receiver knows accounts.
        let names: MailNames
        /// How long one attempt may take.
        let timeout: Duration
        /// Events that are sent at once.
        let inFlight: Int
        /// A PEM file of certificates to trust instead of the system's.
        let certificateFile: String?

        public init(
            url: String, secretFile: String, names: MailNames, timeout: Duration, inFlight: Int,
            certificateFile: String? = nil
        ) {
            self.url = url
            self.secretFile = secretFile
            self.names = names
            self.timeout = timeout
            self.inFlight = inFlight
            self.certificateFile = certificateFile
        }
    }

    private let settings: Settings
    private let signer: WebhookSigner
    private let fetcher: Fetcher

    /// - Throws: when its secret cannot be read.
    public init(_ settings: Settings) throws(ProvisioningError) {
        self.settings = settings
        signer = try Self.signer(from: settings.secretFile)
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

    public func send(_ event: AccountEvent, at now: Instant) async -> Answer {
        let body = event.json(settings.names)
        var request = OutboundRequest(
            .post, settings.url,
            headers: [
                ("Content-Type", "application/json"), ("User-Agent", "postern/\(Process.version)"),
            ] + signer.fields(of: event.id.text, body, at: now),
            body: body, timeout: settings.timeout, bodyLimit: Self.responseBytes)
        request.certificateFile = settings.certificateFile
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

/// Why events cannot be delivered to the receiver.
public enum ProvisioningError: Error, Equatable, CustomStringConvertible {
    case secret(path: String, String)

    public var description: String {
        switch self {
        case .secret(let path, let problem): "provisioning.secret_file: \(path) \(problem)"
        }
    }
}
