internal import Scheduling

/// Fetches what strangers name, on threads of its own: slow hosts hold nothing else up.
///
/// Promises: a name is looked up once, and unless every address of it is allowed nothing is
/// connected to; the connection goes to one of those addresses, which is looked at again when its
/// socket is opened. A fetch ends within its time, waiting included. Of one host at most
/// ``FetchLimits/perHost`` fetches are under way at once.
public final class GuardedFetcher: Sendable {
    public let rules: FetchRules
    private let trust: TrustAnchors
    private let lookUp: NameLookup
    private let gate: HostGate
    private let lookups: WorkerPool
    private let transfers: WorkerPool

    /// - Parameter lookUp: the system's resolver unless a test has its own.
    public convenience init(rules: FetchRules) {
        self.init(rules: rules, lookUp: SystemLookup.addresses(of:))
    }

    /// - Parameter onWait: told of each fetch that waits for its host's turn.
    init(
        rules: FetchRules, lookUp: @escaping NameLookup,
        onWait: @escaping @Sendable () -> Void = {}
    ) {
        let limits = rules.limits
        self.rules = rules
        self.lookUp = lookUp
        trust = TrustAnchors(file: rules.certificateFile)
        gate = HostGate(
            width: limits.perHost, perHost: limits.waitingPerHost, depth: limits.waiting,
            onWait: onWait)
        lookups = WorkerPool(name: "lookup", lanes: limits.lookups, depth: limits.waiting)
        transfers = WorkerPool(name: "transfer", lanes: limits.transfers, depth: limits.waiting)
    }

    /// Whether a fetch that came now would be turned away, whatever its host. Those who wait for
    /// one host's turn are in nobody else's way.
    public var isFull: Bool { lookups.isFull || transfers.isFull }

    /// The body of a GET that was answered 200.
    ///
    /// - Parameter timeout: for all of it: waiting, lookup, connecting, TLS and reading.
    /// - Throws: ``FetchFailure``; ``TooManyFetches`` when there is no place even to wait;
    ///   `CancellationError`.
    public func fetch(_ target: FetchTarget, within timeout: Duration) async throws -> [UInt8] {
        let deadline = ContinuousClock.now + timeout
        do {
            return try await withDeadline(deadline) { try await self.fetch(target, by: deadline) }
        } catch is DeadlinePassed {
            throw FetchFailure(.timedOut)
        } catch is WorkerPool.Full {
            throw TooManyFetches()
        }
    }

    private func fetch(
        _ target: FetchTarget, by deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        try await gate.withPlace(at: target.host) {
            let addresses = try await self.addresses(of: target.host)
            let transfer = GuardedTransfer(
                target: target, addresses: addresses, rules: self.rules, trust: self.trust,
                deadline: deadline)
            return try await self.transfers.run { try transfer.perform() }
        }
    }

    /// - Returns: all addresses of the host, at least one, every one allowed.
    private func addresses(of host: FetchTarget.Host) async throws -> [IPAddress] {
        let found: [IPAddress]
        switch host {
        case .address(let address): found = [address]
        case .name(let name): found = try await lookups.run { [lookUp] in try lookUp(name) }
        }
        guard !found.isEmpty else { throw FetchFailure(.unresolvable) }
        if let refused = found.first(where: { !rules.addresses.allows($0) }) {
            throw FetchFailure(.refusedAddress(refused))
        }
        return found
    }
}
