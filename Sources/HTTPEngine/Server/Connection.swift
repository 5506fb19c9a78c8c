internal import CSocket

/// One client's connection: moves bytes between its socket, the parser and the outbox as
/// ``ConnectionState`` says, and runs one handler at a time.
///
/// Confined to its loop: every method that does something takes the loop as its isolation. The
/// descriptor is closed in `perform(.close)` and nowhere else.
final class Connection {
    let descriptor: Int32
    let listener: Listener
    /// Who is at the other end; from a proxy's header on, whom it speaks for.
    var peer: PeerAddress
    var standing: Standing
    /// What has come of the header that a proxy begins with; nil when none is awaited any more.
    var header: [UInt8]?
    var parser: RequestParser
    var state: ConnectionState
    var incoming: Exchange?
    var queue: [Exchange] = []
    var task: Task<Void, Never>?
    var outbox: [UInt8] = []
    var sentBytes = 0
    var watched: UInt32 = 0
    var isWatched = false
    var requestBegan: MonotonicTime
    var owesContinue = false
    var isPumping = false
    /// Bytes charged to the budget of all connections.
    var charged = 0
    /// It has been told that there is no room for what it sends.
    var isTurnedAway = false

    /// How it is counted.
    enum Standing {
        case named
        /// Among all, but to no client yet: the proxy's header is awaited.
        case unnamed
        /// Over the caps and taken only to be told so; not counted.
        case surplus
    }

    init(
        descriptor: Int32, listener: Listener, peer: PeerAddress, standing: Standing,
        context: ServerContext, at now: MonotonicTime
    ) {
        self.descriptor = descriptor
        self.listener = listener
        self.peer = peer
        self.standing = standing
        header = standing == .unnamed ? [] : nil
        parser = RequestParser(limits: context.parserLimits)
        state = ConnectionState(limits: context.connectionLimits, at: now)
        requestBegan = now
    }

    /// Begins to listen to the peer; one over the caps is answered 503 at once.
    func open(on loop: isolated Loop) {
        if standing == .surplus { turnAway(on: loop) }
        pump(on: loop)
    }

    /// Tells the client that there is no room.
    func turnAway(on loop: isolated Loop) {
        refuse(.overloaded(retryAfter: loop.context.configuration.retryAfter), on: loop)
    }

    /// The kernel has news.
    func ready(_ events: UInt32, on loop: isolated Loop) {
        if events & EPOLLOUT.rawValue != 0 { pump(on: loop) }
        if state.wantsBytes {
            read(on: loop)
        } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            // Not reading and told all the same: the peer is gone, both ways.
            perform(state.close(), on: loop)
        }
        pump(on: loop)
    }

    /// Looks at the deadlines.
    func tick(on loop: isolated Loop) {
        let action = state.expire(at: loop.now)
        guard action != .none else { return }
        perform(action, on: loop)
        pump(on: loop)
    }

    /// What has arrived already is still answered; then nothing more is taken.
    func drain(on loop: isolated Loop) {
        ready(0, on: loop)
        perform(state.drain(), on: loop)
    }

    func abort(on loop: isolated Loop) {
        perform(state.close(), on: loop)
    }
}
