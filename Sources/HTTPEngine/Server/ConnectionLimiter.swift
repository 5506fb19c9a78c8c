internal import Networking
internal import Synchronization

/// Limits the open connections, in all and of each client, over all loops. A connection whose
/// client is not known yet, because its PROXY header has not arrived, counts only in all.
///
/// Guarantees: a connection is counted from `acquire` to `release`. The table holds only clients
/// that have a connection, so the number of connections bounds it.
final class ConnectionLimiter: Sendable {
    private struct State {
        var total = 0
        var byClient: [IPBlock: Int] = [:]
        var accepted = 0
        var rejections = RejectionCounts()
    }

    private let limit: Int
    private let clientLimit: Int
    private let state = Mutex(State())

    init(limit: Int, clientLimit: Int) {
        self.limit = limit
        self.clientLimit = clientLimit
    }

    /// Counts a new connection.
    /// - Parameter client: nil when it is assigned later.
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
    /// - Returns: false when the client has reached its limit; then the connection still has none.
    func assign(_ client: IPAddress) -> Bool {
        state.withLock { count(client, &$0) }
    }

    /// - Parameter client: the one of the connection; nil when it was never assigned.
    func release(_ client: IPAddress?) {
        state.withLock { state in
            state.total -= 1
            guard let client = client?.client else { return }
            let count = state.byClient[client, default: 1] - 1
            state.byClient[client] = count == 0 ? nil : count
        }
    }

    /// Open connections.
    var total: Int { state.withLock { $0.total } }

    /// Connections that were within the limits, since the start.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Connections that were not, since the start.
    var rejections: RejectionCounts { state.withLock { $0.rejections } }

    private func count(_ client: IPAddress?, _ state: inout State) -> Bool {
        guard let client = client?.client else { return true }
        let count = state.byClient[client, default: 0]
        guard count < clientLimit else {
            state.rejections.count(.clientLimit)
            return false
        }
        state.byClient[client] = count + 1
        return true
    }
}

extension Connection {
    /// How the connection limits count it.
    enum Admission {
        /// For its client.
        case counted
        /// For no client yet: the PROXY header that names it has not arrived.
        case unassigned
        /// Not at all: it is over a limit, and open only until it has been answered 503.
        case rejected
    }
}
