internal import Synchronization

/// How many connections are open, in all and from each client, over all loops. One whose client is
/// not named yet, because its proxy has not said it, counts among all.
///
/// Promises: whoever was admitted is counted until it leaves; the table holds only clients that
/// have a connection, so it is bounded by the number of connections.
final class ConnectionLimiter: Sendable {
    private struct State {
        var total = 0
        var bySubscriber: [PeerAddress: Int] = [:]
    }

    private let most: Int
    private let mostPerClient: Int
    private let state = Mutex(State())

    init(most: Int, mostPerClient: Int) {
        self.most = most
        self.mostPerClient = mostPerClient
    }

    /// - Parameter peer: nil when it is to be named later.
    /// - Returns: false when the caps leave no room; then there is nothing to leave.
    func admit(_ peer: PeerAddress?) -> Bool {
        state.withLock { state in
            guard state.total < most, count(peer, &state) else { return false }
            state.total += 1
            return true
        }
    }

    /// Says whose an admitted connection is.
    /// - Returns: false when that client has no room; then it leaves as one without a name.
    func name(_ peer: PeerAddress) -> Bool {
        state.withLock { count(peer, &$0) }
    }

    private func count(_ peer: PeerAddress?, _ state: inout State) -> Bool {
        guard let subscriber = peer?.subscriber else { return true }
        let count = state.bySubscriber[subscriber, default: 0]
        guard count < mostPerClient else { return false }
        state.bySubscriber[subscriber] = count + 1
        return true
    }

    /// - Parameter peer: as it was named; nil when it never was.
    func leave(_ peer: PeerAddress?) {
        state.withLock { state in
            state.total -= 1
            guard let subscriber = peer?.subscriber else { return }
            let count = state.bySubscriber[subscriber, default: 1] - 1
            state.bySubscriber[subscriber] = count == 0 ? nil : count
        }
    }

    var total: Int { state.withLock { $0.total } }
}
