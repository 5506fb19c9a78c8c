internal import Synchronization

/// How many connections are open, in all and from each address, over all loops.
///
/// Promises: whoever was admitted is counted until it leaves; the table holds only addresses that
/// have a connection, so it is bounded by the number of connections.
final class ConnectionCensus: Sendable {
    private struct State {
        var total = 0
        var byHost: [PeerAddress: Int] = [:]
    }

    private let most: Int
    private let mostPerClient: Int
    private let state = Mutex(State())

    init(most: Int, mostPerClient: Int) {
        self.most = most
        self.mostPerClient = mostPerClient
    }

    /// False when the caps leave no room; then there is nothing to leave.
    func admit(_ peer: PeerAddress) -> Bool {
        let host = peer.host
        return state.withLock { state in
            let count = state.byHost[host, default: 0]
            guard state.total < most, count < mostPerClient else { return false }
            state.total += 1
            state.byHost[host] = count + 1
            return true
        }
    }

    func leave(_ peer: PeerAddress) {
        let host = peer.host
        state.withLock { state in
            state.total -= 1
            let count = state.byHost[host, default: 1] - 1
            state.byHost[host] = count == 0 ? nil : count
        }
    }

    var total: Int { state.withLock { $0.total } }
}
