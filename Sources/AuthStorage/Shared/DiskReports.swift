internal import AuthCore
internal import Synchronization

/// Reports when the disk of a store becomes full or fails, and when it works again. Reports changes
/// only: such a disk would fail as many writes as come.
///
/// A disk that is almost full takes small writes and refuses others. So it works again when a write
/// succeeds and none has failed for ``pause``.
final class DiskReports: Sendable {
    private struct State {
        var isFull = false
        var isFailing = false
        /// When the last write failed because of the disk; `nil` when it works.
        var failure: ContinuousClock.Instant?
    }

    static let pause = Duration.seconds(10)
    private let observers: StoreObservers
    private let state = Mutex(State())

    init(_ observers: StoreObservers) {
        self.observers = observers
    }

    /// - Parameter error: `StoreFull` or `StoreDiskFailure` if the disk has failed a write, `nil`
    ///   when one has succeeded.
    func note(_ error: (any Error)?, at now: ContinuousClock.Instant) {
        let isFull = error is StoreFull
        let failure = error as? StoreDiskFailure
        let changed = state.withLock { state -> (full: Bool, failing: Bool) in
            if error == nil {
                guard let last = state.failure, now - last >= Self.pause else {
                    return (false, false)
                }
            }
            defer {
                state.isFull = isFull
                state.isFailing = failure != nil
                state.failure = error.map { _ in now }
            }
            return (state.isFull != isFull, state.isFailing != (failure != nil))
        }
        if changed.full { observers.diskFull(isFull) }
        if changed.failing { observers.diskFailing(failure?.cause) }
    }
}
