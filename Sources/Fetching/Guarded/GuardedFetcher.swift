internal import CResolver
public import Networking
public import Scheduling

/// Asks URLs that clients name, so that slow hosts delay nothing else: fetches on separate threads,
/// posts over connections that are kept open (``TransferLoop``).
///
/// Guarantees: A name is looked up once, and if any of its addresses is forbidden, there is no
/// connection. The connection goes to one of those addresses, which is checked again when its
/// socket is opened. A fetch ends at its deadline, including the time of waiting. It counts for its
/// host's name and for the address of its connection, but never for several addresses at once,
/// because a name can list addresses of other owners.
public final class GuardedFetcher: Sendable {
    typealias Lookup = @Sendable (_ name: String) throws(NameLookupError) -> [IPAddress]

    /// The first addresses of a name that are tried.
    private static let maxAddresses = 8

    public let rules: FetchRules
    private let lookUp: Lookup
    private let slots: FetchSlots
    private let lookups: WorkerPool
    private let transfers: WorkerPool
    private let posts: TransferLoop

    public convenience init(rules: FetchRules) {
        self.init(rules: rules, lookUp: SystemLookup.addresses(of:))
    }

    /// - Parameters:
    ///   - lookUp: the system's resolver, unless a test has its own. May block.
    ///   - onWait: called for each fetch that has to wait for a slot.
    init(
        rules: FetchRules, lookUp: @escaping Lookup,
        onWait: @escaping @Sendable () -> Void = {}
    ) {
        let limits = rules.limits
        self.rules = rules
        self.lookUp = lookUp
        slots = FetchSlots(limits: limits, onWait: onWait)
        lookups = WorkerPool(
            name: "lookup", lanes: limits.lookups, depth: limits.waiting, shares: limits.shares)
        transfers = WorkerPool(
            name: "transfer", lanes: limits.transfers, depth: limits.waiting, shares: limits.shares)
        posts = TransferLoop(idle: limits.idle)
    }

    /// The present state of the threads for look-ups and of those for fetches.
    public var statistics: (lookups: WorkerPool.Statistics, transfers: WorkerPool.Statistics) {
        (lookups.statistics, transfers.statistics)
    }

    /// Whether a new fetch of this client would be rejected now, for any host. Fetches that wait
    /// for a slot do not count: they delay no other host.
    public func isFull(for client: IPAddress) -> Bool {
        lookups.isFull(for: client) || transfers.isFull(for: client)
    }

    /// The body of a GET that was answered with status 200.
    ///
    /// - Parameters:
    ///   - headers: further header fields of the request; neither name nor value may hold a control
    ///     character.
    ///   - client: who asked for it.
    ///   - deadline: for everything: waiting, look-up, connecting, TLS and reading.
    /// - Throws: ``FetchError``; ``TooManyFetches`` when there is no place to wait;
    ///   `CancellationError`.
    public func fetch(
        _ target: FetchTarget, headers: [(name: String, value: String)] = [],
        for client: IPAddress, by deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        try await run(target, headers, for: client, by: deadline) { [transfers] transfer in
            try await transfers.run(for: client) { try transfer.get() }
        }
    }

    /// Sends `body` by POST, over a connection that is open already if there is one to an address
    /// that the host has now.
    ///
    /// - Parameters: as for ``fetch(_:headers:for:by:)``.
    /// - Returns: the status, from 200 to 299.
    /// - Throws: as ``fetch(_:headers:for:by:)``.
    public func post(
        _ body: [UInt8], to target: FetchTarget, headers: [(name: String, value: String)],
        for client: IPAddress, by deadline: ContinuousClock.Instant
    ) async throws -> Int {
        try await run(target, headers, for: client, by: deadline) { [posts] transfer in
            var transfer = transfer
            transfer.body = body
            return try await transfer.post(over: posts)
        }
    }

    private func run<T: Sendable>(
        _ target: FetchTarget, _ headers: [(name: String, value: String)],
        for client: IPAddress, by deadline: ContinuousClock.Instant,
        _ perform: @escaping @Sendable (GuardedTransfer) async throws -> T
    ) async throws -> T {
        do {
            // A look-up cannot be interrupted, so the caller does not wait for it to end.
            return try await withDeadline(deadline) {
                try await self.slots.hold(for: client) {
                    guard case .name(let name) = target.host else {
                        return try await self.ask(
                            target, headers, for: client, by: deadline, perform)
                    }
                    return try await self.slots.hold(.name(name), for: client) {
                        try await self.ask(target, headers, for: client, by: deadline, perform)
                    }
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

    /// Asks the first address of the host that can be connected to.
    private func ask<T: Sendable>(
        _ target: FetchTarget, _ headers: [(name: String, value: String)],
        for client: IPAddress, by deadline: ContinuousClock.Instant,
        _ perform: @escaping @Sendable (GuardedTransfer) async throws -> T
    ) async throws -> T {
        var rest = try await addresses(of: target.host, for: client).prefix(Self.maxAddresses)
        while let address = rest.popFirst() {
            let isLast = rest.isEmpty
            do {
                return try await slots.hold(.network(address.client), for: client) {
                    try await perform(
                        GuardedTransfer(
                            target: target, headers: headers, address: address, isLast: isLast,
                            rules: rules, deadline: deadline))
                }
            } catch let error as FetchError where error.cause == .unreachable && !rest.isEmpty {
                continue
            }
        }
        throw FetchError(.unresolvable(.noAddress))
    }

    /// - Returns: all addresses of the host, every one allowed.
    private func addresses(
        of host: FetchTarget.Host, for client: IPAddress
    ) async throws -> [IPAddress] {
        let found: [IPAddress]
        switch host {
        case .address(let address): found = [address]
        case .name(let name):
            do {
                found = try await lookups.run(for: client) { [lookUp] in try lookUp(name) }
            } catch let error as NameLookupError {
                throw FetchError(.unresolvable(error))
            }
        }
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
