internal import Networking
internal import Synchronization

/// Limits the open connections, in all, of each client and of each site, over all loops. Some
/// connections count only in the total: those of trusted proxies, which forward requests of many
/// clients, and those whose client is not known yet, because the PROXY header has not arrived.
///
/// Guarantees: a connection is counted from `acquire` to `release`. The table holds only clients
/// and sites that have a connection, so the number of connections bounds it.
final class ConnectionLimiter: Sendable {
    private struct State {
        var total = 0
        var open = NetworkCounts()
        var accepted = 0
        var rejections = RejectionCounts()
    }

    private let limit: Int
    private let clientLimit: Int
    private let siteLimit: Int
    private let state = Mutex(State())

    init(limit: Int, clientLimit: Int, siteLimit: Int = .max) {
        self.limit = limit
        self.clientLimit = clientLimit
        self.siteLimit = siteLimit
    }

    /// Counts a new connection.
    /// - Parameter client: nil if it counts only in the total.
    /// - Returns: false when a limit is reached; then there is nothing to release.
    func acquire(_ client: IPAddress?) -> Bool {
        state.withLock { state in
            guard state.total < limit else {
                state.rejections.count(.connectionLimit)
                return false
            }
            guard count(client, &state) else { return false }
            state.total += 1
            state.accepted += 1
            return true
        }
    }

    /// Assigns a counted connection to its client.
    /// - Returns: false if the client or its site has reached its limit; then the connection still
    ///   has no client.
    func assign(_ client: IPAddress) -> Bool {
        state.withLock { count(client, &$0) }
    }

    /// - Parameter client: the one of the connection; nil when it was never assigned.
    func release(_ client: IPAddress?) {
        state.withLock { state in
            state.total -= 1
            if let client { state.open.remove(client) }
        }
    }

    /// Open connections.
    var total: Int { state.withLock { $0.total } }

    /// Connections that were within the limits, since the start.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Connections that were not, since the start.
    var rejections: RejectionCounts { state.withLock { $0.rejections } }

    private func count(_ client: IPAddress?, _ state: inout State) -> Bool {
        guard let client else { return true }
        let open = state.open.count(of: client)
        guard open.client < clientLimit, open.site < siteLimit else {
            state.rejections.count(open.client < clientLimit ? .siteLimit : .clientLimit)
            return false
        }
        state.open.add(client)
        return true
    }
}

extension Connection {
    /// How the connection limits count it.
    enum Admission {
        /// For its client.
        case counted
        /// For no client, because it is from a trusted proxy.
        case exempt
        /// For no client yet: the PROXY header that names it has not arrived.
        case unassigned
        /// Not at all: it exceeds a limit, and is open only until it has been answered 503.
        case rejected

        /// Whose connection it is for the limits; nil for nobody's.
        func client(_ peer: SocketAddress) -> IPAddress? { self == .counted ? peer.address : nil }
    }

    func release(on loop: isolated Loop) {
        switch admission {
        case .counted: limiter.release(peer.address)
        case .unassigned, .exempt: limiter.release(nil)
        case .rejected: loop.releaseRejected()
        }
    }
}
