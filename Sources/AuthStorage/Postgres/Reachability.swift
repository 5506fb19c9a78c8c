internal import AuthCore
internal import Synchronization

/// The result of the last attempt to connect, and its host. All connections of a store share it, so
/// that for a server that is down there is one attempt at a time and not one for each request.
final class Reachability: Sendable {
    private struct State {
        var attempts = 0
        /// Why the last attempt failed, and when.
        var failure: (cause: String, at: ContinuousClock.Instant)?
        /// The time of the last statement whose connection was lost.
        var loss: ContinuousClock.Instant?
        var order = PostgresHostOrder.ofURL
    }

    private static let pause = Duration.milliseconds(200)
    private static let silence = Duration.seconds(1)
    private let onChange: @Sendable (_ cause: String?) -> Void
    private let state = Mutex(State())

    /// - Parameter onChange: called when the server cannot be reached, with the cause, and with
    ///   `nil` when it can be reached again.
    init(_ onChange: @escaping @Sendable (_ cause: String?) -> Void) {
        self.onChange = onChange
    }

    /// In which order hosts should be tried now.
    var order: PostgresHostOrder { state.withLock { $0.order } }

    /// A connection was made to this host.
    func note(_ host: PostgresHost) {
        state.withLock { $0.order = .first(host) }
    }

    /// A connection was lost. Connections that were opened before its last statement are not used
    /// again.
    ///
    /// A host that was silent is tried last: it may not answer new connections either. One that
    /// has closed its connections refuses new ones without delay.
    /// - Parameter begin: when that statement was sent.
    func noteLoss(of host: PostgresHost, since begin: ContinuousClock.Instant) {
        state.withLock { state in
            state.loss = max(state.loss ?? begin, begin)
            let isLatest = if case .first(let other) = state.order { other == host } else { true }
            if isLatest, .now - begin >= Self.silence { state.order = .last(host) }
        }
    }

    func hasLoss(since opening: ContinuousClock.Instant) -> Bool {
        state.withLock { state in state.loss.map { $0 >= opening } ?? false }
    }

    /// - Throws: if the server could not be reached a moment ago, or another call is trying to
    ///   connect.
    func beginAttempt() throws(NoConnection) {
        let cause: String? = state.withLock { state in
            if let failure = state.failure,
                state.attempts > 0 || ContinuousClock.now < failure.at + Self.pause
            {
                return failure.cause
            }
            state.attempts += 1
            return nil
        }
        if let cause { throw NoConnection(cause: cause) }
    }

    /// - Parameter cause: why the attempt failed; `nil` when it succeeded.
    func endAttempt(_ cause: String?) {
        let hasChanged = state.withLock { state in
            defer { state.failure = cause.map { ($0, .now) } }
            state.attempts -= 1
            return (state.failure == nil) != (cause == nil)
        }
        if hasChanged { onChange(cause) }
    }
}
