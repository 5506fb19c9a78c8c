internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Fetching
internal import Logging
internal import Platform
internal import Provisioning
internal import Scheduling

/// What sends the events of users' webhooks, and counts them. It stays when settings change.
struct WebhookParts: Sendable {
    private static let inFlight = 64

    let receivers: WebhookReceivers
    let results = Counters<WebhookEventResult>()
    private let timeout: Duration

    init(_ section: WebhooksSection) {
        let ports = Set(section.ports.compactMap { UInt16(exactly: $0) })
        timeout = section.timeout
        receivers = WebhookReceivers(
            rules: FetchRules(
                allowsPrivateNetworks: section.allowPrivateNetworks,
                ports: ports.isEmpty ? .any : .only(ports), certificateFile: section.caFile,
                userAgent: "postern/\(Process.version)"),
            inFlight: Self.inFlight, timeout: section.timeout)
    }

    /// The threads for receivers.
    var pools: [Metrics.NamedPool] { [("webhook_look_up", receivers.lookups)] }

    func delivery(
        of queue: any WebhookQueue, _ keys: KeyRing, _ logger: Logger, _ clock: ServerClock
    ) -> WebhookDelivery {
        WebhookDelivery(
            queue, settings: .init(inFlight: Self.inFlight, timeout: timeout), open: keys.open,
            send: receivers.send, count: { [results] in results.add($0, $1) },
            report: { $0.log(to: logger) }, random: RandomBytes.make, clock: clock.now)
    }
}

extension WebhookDelivery.Report {
    fileprivate func log(to logger: Logger) {
        switch self {
        case .rejected(let id, let cause, let count):
            logger.info(
                "an event of a webhook was not accepted",
                metadata: ["webhook": "\(id)", "cause": "\(cause)", "count": "\(count)"])
        case .disabled(let id):
            logger.notice(
                "a webhook is disabled: its events were not accepted",
                metadata: ["webhook": "\(id)"])
        }
    }
}

extension Metrics {
    nonisolated func addWebhooks(_ results: Counters<WebhookEventResult>) {
        add { text in
            text.begin(
                "postern_webhook_events_total", .counter,
                "What has happened to the events of users' webhooks.")
            for result in WebhookEventResult.allCases {
                text.sample([("result", result.rawValue)], results.value(result))
            }
        }
    }
}
