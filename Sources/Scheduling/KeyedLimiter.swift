internal import Synchronization

/// There are too many callers for one key, or in all. Nothing has run.
public struct KeyLimitReached: Error, Equatable {
    public init() {}
}

/// Limits how many callers work on one key at once; the next ones wait in order.
///
/// Guarantees: at most `width` bodies run at once for a key; at most `waitingPerKey` callers wait
/// for it and `waiting` for all keys together, and a caller beyond that gets ``KeyLimitReached``.
/// A caller that is cancelled while it waits leaves the queue. A key takes memory only while a
/// caller works on it or waits for it.
public final class KeyedLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        let ticket: UInt64
        let turn: CheckedContinuation<Void, any Error>
    }

    private struct Entry {
        var running = 0
        var waiting: [Waiter] = []
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var waiting = 0
        var nextTicket: UInt64 = 0
    }

    private enum Arrival {
        case runs, waits, rejected
    }

    private let width: Int
    private let waitingPerKey: Int
    private let waiting: Int
    private let onWait: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: callers at once for one key, at least one.
    ///   - waitingPerKey: callers that may wait for one key; 0 when none may.
    ///   - waiting: callers that may wait for all keys together.
    ///   - onWait: called for each caller that has to wait, once it is in the queue.
    public init(
        width: Int, waitingPerKey: Int = 0, waiting: Int = 0,
        onWait: @escaping @Sendable () -> Void = {}
    ) {
        precondition(width > 0 && waitingPerKey >= 0 && waiting >= 0)
        self.width = width
        self.waitingPerKey = waitingPerKey
        self.waiting = waiting
        self.onWait = onWait
    }

    /// The keys that callers work on or wait for, and the callers that wait.
    public var occupancy: (keys: Int, waiting: Int) {
        state.withLock { ($0.entries.count, $0.waiting) }
    }

    /// Runs `body` when it is the caller's turn for `key`.
    ///
    /// - Throws: ``KeyLimitReached``; `CancellationError` when the caller was cancelled before its
    ///   turn; or what `body` throws.
    public func run<T>(
        _ key: Key, _ body: () async throws -> T
    ) async throws -> T {
        try await enter(key)
        defer { leave(key) }
        return try await body()
    }

    /// A place at a key, given back when the last reference to it is gone: for work that goes on
    /// after the function that began it.
    public final class Place: Sendable {
        private let limiter: KeyedLimiter
        private let key: Key

        fileprivate init(in limiter: KeyedLimiter, at key: Key) {
            self.limiter = limiter
            self.key = key
        }

        deinit { limiter.leave(key) }
    }

    /// Takes a place without waiting for one.
    ///
    /// - Returns: `nil` when the key has no free place.
    public func place(at key: Key) -> Place? {
        let isFree = state.withLock { state in
            guard state.entries[key, default: Entry()].running < width else { return false }
            state.entries[key, default: Entry()].running += 1
            return true
        }
        return isFree ? Place(in: self, at: key) : nil
    }

    private func enter(
        _ key: Key, isolation caller: isolated (any Actor)? = #isolation
    ) async throws {
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.nextTicket &+= 1
            return state.nextTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(isolation: caller) { continuation in
                switch arrive(Waiter(ticket: ticket, turn: continuation), at: key) {
                case .runs: continuation.resume()
                case .rejected: continuation.resume(throwing: KeyLimitReached())
                case .waits:
                    onWait()
                    // A caller that was cancelled before it was in the queue could not be told
                    // then.
                    if Task.isCancelled { withdraw(ticket, from: key) }
                }
            }
        } onCancel: {
            withdraw(ticket, from: key)
        }
    }

    private func arrive(_ waiter: Waiter, at key: Key) -> Arrival {
        state.withLock { state in
            var entry = state.entries[key] ?? Entry()
            if entry.running < width {
                entry.running += 1
                state.entries[key] = entry
                return .runs
            }
            guard entry.waiting.count < waitingPerKey, state.waiting < waiting else {
                return .rejected
            }
            entry.waiting.append(waiter)
            state.waiting += 1
            state.entries[key] = entry
            return .waits
        }
    }

    private func leave(_ key: Key) {
        let next: Waiter? = state.withLock { state in
            guard var entry = state.entries[key] else { return nil }
            // The place passes directly to the first caller in the queue, so a caller that arrives
            // now cannot take it.
            if !entry.waiting.isEmpty {
                state.waiting -= 1
                let next = entry.waiting.removeFirst()
                state.entries[key] = entry
                return next
            }
            entry.running -= 1
            state.entries[key] = entry.running == 0 ? nil : entry
            return nil
        }
        next?.turn.resume()
    }

    private func withdraw(_ ticket: UInt64, from key: Key) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.entries[key]?.waiting.firstIndex(where: { $0.ticket == ticket })
            else { return nil }
            state.waiting -= 1
            return state.entries[key]?.waiting.remove(at: index)
        }
        waiter?.turn.resume(throwing: CancellationError())
    }
}
