internal import Networking
internal import Scheduling

/// The slots that a fetch uses while it runs: of its client, of its client's site, and of each
/// target.
///
/// A fetch that finds no slot free waits for one. It takes the slots of its client and site before
/// those of a target, so that one client or site cannot fill the queue of a target with fetches
/// that could not run. Slots are always taken in the order of the functions here, and those of a
/// host name before those of an address, so two fetches never wait for each other.
struct FetchSlots: Sendable {
    /// The target by which concurrent fetches are counted.
    enum Target: Hashable, Sendable {
        case name(String)
        /// An IPv4 address or an IPv6 /64, of which one host may use every address.
        case network(IPBlock)
    }

    private struct Visit: Hashable, Sendable {
        let site: IPBlock
        let target: Target
    }

    private let clients: KeyedLimiter<IPBlock>
    private let sites: KeyedLimiter<IPBlock>
    private let visits: KeyedLimiter<Visit>
    private let targets: KeyedLimiter<Target>

    /// - Parameter onWait: called for each fetch that has to wait.
    init(limits: FetchLimits, onWait: @escaping @Sendable () -> Void) {
        func limiter<Key>(_ width: Int) -> KeyedLimiter<Key> {
            KeyedLimiter(
                width: width, waitingPerKey: limits.waitingPerSlot, waiting: limits.waiting,
                onWait: onWait)
        }
        clients = limiter(limits.perClient)
        sites = limiter(limits.perSite)
        visits = limiter(limits.perTargetAndSite)
        targets = limiter(limits.perTarget)
    }

    /// Runs `body` with a slot of the client and one of its site.
    /// - Throws: as ``Scheduling/KeyedLimiter/run(_:_:)``.
    func hold<T>(for client: IPAddress, _ body: () async throws -> T) async throws -> T {
        try await clients.run(client.client) { try await sites.run(client.site, body) }
    }

    /// Runs `body` with a slot of `target`.
    /// - Throws: as ``Scheduling/KeyedLimiter/run(_:_:)``.
    func hold<T>(
        _ target: Target, for client: IPAddress, _ body: () async throws -> T
    ) async throws -> T {
        try await visits.run(Visit(site: client.site, target: target)) {
            try await targets.run(target, body)
        }
    }
}
