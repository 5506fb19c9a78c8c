public import Networking
internal import Synchronization

/// Lets callers do short pieces of work on their own actor, one piece in each turn of it.
///
/// For work of a fraction of a millisecond: the hops to a pool and back would cost a fifth of it.
/// If each caller did its piece at once, many in a row would delay everything else on the actor.
/// Here whatever waits for the actor runs between two pieces, so it is delayed by one or two.
///
/// Guarantees: callers that wait are taken fairly (``FairQueue``). One that is cancelled while it
/// waits leaves the queue. The caller must limit how many wait, for example by a place in a
/// ``WorkerPool``.
public final class ActorTurns: Sendable {
    private typealias Turn = CheckedContinuation<Void, any Error>

    /// The callers that wait for one actor, whose turn is taken.
    private struct Waiting {
        var queue = FairQueue<Turn>()
    }

    private struct State {
        /// By actor, for those whose turn is taken.
        var actors: [ObjectIdentifier: Waiting] = [:]
        var nextTicket: UInt64 = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// The actors whose turn is taken, and the callers that wait.
    public var occupancy: (actors: Int, waiting: Int) {
        state.withLock { state in
            (state.actors.count, state.actors.values.reduce(0) { $0 + $1.queue.count })
        }
    }

    /// Runs `work` on the actor when it is the caller's turn.
    /// - Parameters:
    ///   - client: the address of the client that asked for the work; `nil` for the server itself.
    ///   - actor: the caller's own.
    /// - Throws: `CancellationError` when the caller was cancelled before its turn, and what `work`
    ///   throws.
    public func run<T: Sendable>(
        for client: IPAddress?, on actor: isolated any Actor, _ work: () throws -> T
    ) async throws -> T {
        try await begin(for: client, on: actor)
        defer { end(on: actor) }
        return try work()
    }

    private func begin(for client: IPAddress?, on actor: isolated any Actor) async throws {
        let key = ObjectIdentifier(actor)
        let ticket: UInt64? = state.withLock { state in
            guard state.actors[key] != nil else {
                state.actors[key] = Waiting()
                return nil
            }
            state.nextTicket &+= 1
            return state.nextTicket
        }
        guard let ticket else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: actor) { turn in
                wait(turn, ticket, of: client, for: key)
                // A caller cancelled before this point was told so when it was not in the queue.
                if Task.isCancelled { withdraw(ticket, of: client, from: key) }
            }
        } onCancel: {
            withdraw(ticket, of: client, from: key)
        }
    }

    private func wait(
        _ turn: Turn, _ ticket: UInt64, of client: IPAddress?, for key: ObjectIdentifier
    ) {
        let isTaken = state.withLock { state in
            guard state.actors[key] != nil else {
                state.actors[key] = Waiting()
                return false
            }
            state.actors[key]?.queue.append(turn, ticket: ticket, of: client)
            return true
        }
        if !isTaken { turn.resume() }
    }

    private func withdraw(_ ticket: UInt64, of client: IPAddress?, from key: ObjectIdentifier) {
        let turn = state.withLock { $0.actors[key]?.queue.remove(ticket, of: client) }
        turn?.resume(throwing: CancellationError())
    }

    /// Gives the turn to the next caller, which the actor's executor runs after whatever waits for
    /// it now. Without one the turn ends when that has run.
    private func end(on actor: isolated any Actor) {
        let key = ObjectIdentifier(actor)
        guard !passOn(key, endsTurn: false) else { return }
        Task {
            _ = actor
            _ = passOn(key, endsTurn: true)
        }
    }

    /// - Returns: whether there was a next caller.
    private func passOn(_ key: ObjectIdentifier, endsTurn: Bool) -> Bool {
        let next: Turn? = state.withLock { state in
            if let next = state.actors[key]?.queue.popFirst() { return next }
            if endsTurn { state.actors[key] = nil }
            return nil
        }
        next?.resume()
        return next != nil
    }
}
