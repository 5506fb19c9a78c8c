internal import Fetching
internal import Networking

/// `[provisioning]`: the program that receives an event for every change of an account.
public struct ProvisioningSection: Sendable {
    /// Where events are sent. Without one they are only kept for `postern audit follow`.
    public var url: ReceiverURL?
    /// The file of the secrets that events are signed with. Required with ``url``.
    public var secretFile: String?
    /// How long one attempt may take.
    public var timeout = Duration.seconds(10)
    /// Events that are sent at once.
    public var inFlight = 8
    /// The longest time between two attempts for an event that was not accepted.
    public var maxRetryInterval = Duration.seconds(600)
    /// A PEM file of certificates to trust instead of the system's.
    public var caFile: String?

    static let settings = [
        Setting("provisioning.url", \.provisioning.url, url.optional),
        Setting("provisioning.secret_file", \.provisioning.secretFile, Syntax.path.optional),
        Setting(
            "provisioning.timeout", \.provisioning.timeout,
            .duration(.seconds(1) ... .seconds(60))),
        // Each uses a thread, and Dispatch has 255 threads for the whole process.
        Setting("provisioning.in_flight", \.provisioning.inFlight, .integer(1...64)),
        Setting(
            "provisioning.max_retry_interval", \.provisioning.maxRetryInterval,
            .duration(.seconds(1) ... .seconds(86_400))),
        Setting("provisioning.ca_file", \.provisioning.caFile, Syntax.path.optional),
    ]

    private static let url = Syntax<ReceiverURL>.string(
        "an http or https URL without user name and fragment, such as"
            + " \"https://provisioner.example.com/events\"",
        read: { ReceiverURL($0) }, write: \.text)
}

/// The URL of the receiver of account events. The operator names it, so it may be on this machine
/// or in a private network.
public struct ReceiverURL: Equatable, Sendable {
    private let target: FetchTarget

    init?(_ text: String) {
        let rules = FetchRules(allowsHTTP: true, ports: .any)
        // The parser has only one error, which gives no further information.
        guard let target = try? FetchTarget(text, under: rules) else { return nil }
        self.target = target
    }

    public var text: String { target.url }

    /// Whether events could be read on the network.
    var isExposed: Bool {
        guard target.scheme == .http else { return false }
        switch target.host {
        case .name(let name): return name != "localhost"
        case .address(let address): return !address.isLoopback
        }
    }
}
