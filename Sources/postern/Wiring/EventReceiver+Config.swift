internal import AuthCore
public import Configuration
internal import Logging
public import Provisioning

extension EventReceiver {
    /// - Returns: `nil` where no receiver is configured.
    /// - Throws: when its secret cannot be read.
    init?(_ config: Config) throws(ProvisioningError) {
        let section = config.provisioning
        guard let url = section.url, let secretFile = section.secretFile else { return nil }
        let names = MailNames(subject: config.mail.subject, firstDomain: config.mail.domains[0])
        try self.init(
            Settings(
                url: url.text, secretFile: secretFile, names: names, timeout: section.timeout,
                inFlight: section.inFlight, certificateFile: section.caFile))
    }
}

extension EventDelivery.Settings {
    public init(_ section: ProvisioningSection) {
        self.init(
            inFlight: section.inFlight, timeout: section.timeout,
            maxRetryInterval: section.maxRetryInterval)
    }
}

extension EventDelivery.Report {
    func log(to logger: Logger) {
        switch self {
        case .rejected(let pending, let cause, let count):
            let event = pending.event
            logger.warning(
                "an account event was not accepted",
                metadata: [
                    "number": "\(event.number)", "event": "\(event.kind.rawValue)",
                    "account": "\(event.account)", "attempts": "\(pending.attempts)",
                    "cause": "\(cause)", "count": "\(count)",
                ])
        case .unavailable(let cause, let count):
            logger.warning(
                "the receiver of account events is not available",
                metadata: ["cause": "\(cause)", "count": "\(count)"])
        case .availableAgain:
            logger.notice("the receiver of account events is available again")
        }
    }
}
