internal import CResolver
internal import Networking
internal import Scheduling

/// Fetches URLs that clients name, on threads of its own, so that slow hosts delay nothing else.
///
/// Guarantees: a name is looked up once, and unless every address of it is allowed none is
/// connected to; the connection goes to one of those addresses, which is checked again when its
/// socket is opened. A fetch ends at its deadline, waiting included. At most
/// ``FetchLimits/perHost`` fetches from one host run at once.
public final class GuardedFetcher: Sendable {
    typealias Lookup = @Sendable (_ name: String) throws(NameLookupError) -> [IPAddress]

    public let rules: FetchRules
    private let trust: TrustAnchors
    private let lookUp: Lookup
    private let hosts: KeyedLimiter<FetchTarget.Host>
    private let lookups: WorkerPool
    private let transfers: WorkerPool

    public convenience init(rules: FetchRules) {
        self.init(rules: rules, lookUp: SystemLookup.addresses(of:))
    }

    /// - Parameters:
    ///   - lookUp: the system's resolver, unless a test has its own. May block.
    ///   - onWait: called for each fetch that has to wait for its host.
    init(
        rules: FetchRules, lookUp: @escaping Lookup,
        onWait: @escaping @Sendable () -> Void = {}
    ) {
        let limits = rules.limits
        self.rules = rules
        self.lookUp = lookUp
        trust = TrustAnchors(file: rules.certificateFile)
        hosts = KeyedLimiter(
            width: limits.perHost, waitingPerKey: limits.waitingPerHost, waiting: limits.waiting,
            onWait: onWait)
        lookups = WorkerPool(name: "lookup", lanes: limits.lookups, depth: limits.waiting)
        transfers = WorkerPool(name: "transfer", lanes: limits.transfers, depth: limits.waiting)
    }

    /// Whether a fetch that came now would be rejected, whatever its host. Fetches that wait for
    /// one host do not count: they delay no other host.
    public var isFull: Bool { lookups.isFull || transfers.isFull }

    /// The body of a GET that was answered with status 200.
    ///
    /// - Parameter deadline: for everything: waiting, look-up, connecting, TLS and reading.
    /// - Throws: ``FetchError``; ``TooManyFetches`` when there is no place to wait;
    ///   `CancellationError`.
    public func fetch(
        _ target: FetchTarget, by deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        do {
            // A look-up cannot be interrupted, so the caller does not wait for it to end.
            return try await withDeadline(deadline) {
                try await self.hosts.run(target.host) {
                    try await self.transfer(target, by: deadline)
                }
            }
        } catch is DeadlinePassed {
            throw FetchError(.timedOut)
        } catch is KeyLimitReached {
            throw TooManyFetches(queue: "host")
        } catch let full as WorkerPool.Full {
            throw TooManyFetches(queue: full.pool)
        }
    }

    private func transfer(
        _ target: FetchTarget, by deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        let transfer = GuardedTransfer(
            target: target, addresses: try await addresses(of: target.host), rules: rules,
            trust: trust, deadline: deadline)
        return try await transfers.run { try transfer.perform() }
    }

    /// - Returns: all addresses of the host, at least one, every one allowed.
    private func addresses(of host: FetchTarget.Host) async throws -> [IPAddress] {
        let found: [IPAddress]
        switch host {
        case .address(let address): found = [address]
        case .name(let name):
            do {
                found = try await lookups.run { [lookUp] in try lookUp(name) }
            } catch let error as NameLookupError {
                throw FetchError(.unresolvable(error))
            }
        }
        guard !found.isEmpty else { throw FetchError(.unresolvable(.noAddress)) }
        if let forbidden = found.first(where: { !rules.allows($0) }) {
            throw FetchError(.forbiddenAddress(forbidden))
        }
        return found
    }
}

/// The system's resolver with a bound on its time.
enum SystemLookup {
    /// A look-up continues after its fetch has ended, and look-ups have few threads. A nameserver
    /// that does not answer must not occupy one for the system's ten seconds and more.
    private static let (tries, seconds): (Int32, Int32) = (2, 1)

    static func addresses(of name: String) throws(NameLookupError) -> [IPAddress] {
        guard cresolver_ask(tries, seconds) == 0 else { throw .noAddress }
        defer { cresolver_forget() }
        return try NameLookup.addresses(of: name)
    }
}
