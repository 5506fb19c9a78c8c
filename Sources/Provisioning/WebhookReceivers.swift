internal import AuthCore
public import Fetching
internal import Networking
public import Scheduling

/// The receivers of users' webhooks, at URLs that clients name.
public struct WebhookReceivers: Sendable {
    /// A longer response to an event is an error.
    private static let responseBytes = 65_536
    /// That a host cannot be reached is reported no sooner, because the time would show whether its
    /// name exists in this network.
    private static let failureFloor: Duration = .seconds(1)
    /// There is no client: the events of all users are taken in turn before.
    private static let client = IPAddress(v4: 0)

    private let fetcher: GuardedFetcher
    private let timeout: Duration

    /// - Parameters:
    ///   - rules: which URLs are allowed. Their limits are replaced.
    ///   - inFlight: as in ``WebhookDelivery/Settings``.
    public init(rules: FetchRules, inFlight: Int, timeout: Duration) {
        var rules = rules
        rules.limits.bodyBytes = Self.responseBytes
        rules.limits.perTarget = inFlight
        rules.limits.idle = inFlight
        // More than the half for slow receivers, so that hosts whose look-ups hang leave some to
        // others. Each has a thread, and Dispatch has 255 for the whole process.
        rules.limits.lookups = max(1, inFlight * 3 / 4)
        rules.limits.shares = .unlimited
        fetcher = GuardedFetcher(rules: rules)
        self.timeout = timeout
    }

    /// The threads that look up the hosts.
    public var lookups: WorkerPool.Statistics { fetcher.statistics.lookups }

    /// - Returns: the URL in its normal form; `nil` if the rules do not allow it.
    public func url(_ text: String) -> String? {
        guard let target = try? FetchTarget(text, under: fetcher.rules) else { return nil }
        if case .address(let address) = target.host, !fetcher.rules.allows(address) { return nil }
        return target.url
    }

    public func send(_ message: WebhookDelivery.Message) async -> WebhookDelivery.Answer {
        // The rules may have changed since the URL was checked.
        guard let target = try? FetchTarget(message.url, under: fetcher.rules) else {
            return .init(status: nil, error: "the URL is not allowed", cause: "URL not allowed")
        }
        let fields = [("Content-Type", "application/json")] + message.headers
        let floor = ContinuousClock.now + Self.failureFloor
        do {
            let status = try await fetcher.post(
                message.body, to: target, headers: fields, for: Self.client, by: .now + timeout)
            return .init(status: status)
        } catch let error as FetchError {
            var status: Int?
            if case .status(let code) = error.cause { status = code }
            if error.publicText == FetchError.unreachableText {
                try? await Task.sleep(until: floor, clock: .continuous)
            }
            return .init(
                status: status, error: error.publicText, cause: "\(target.origin): \(error)")
        } catch {
            return .init(
                status: nil, error: "this server is busy", cause: "\(target.origin): \(error)")
        }
    }
}

extension FetchError {
    fileprivate static let unreachableText = "the host cannot be reached"

    /// For the user who chose the URL. Names in this network must not be tried out with it.
    fileprivate var publicText: String {
        switch cause {
        case .unresolvable, .forbiddenAddress, .unreachable: Self.unreachableText
        case .untrusted: "TLS failed or the certificate is not trusted"
        case .timedOut: "there was no answer in time"
        case .tooLarge, .encoded: "the response is too large"
        case .status(let status): "the response has status \(status)"
        case .broken: "the response is not HTTP or incomplete"
        }
    }
}
