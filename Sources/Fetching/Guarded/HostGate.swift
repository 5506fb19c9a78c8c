internal import Synchronization

/// Lets few fetches at once through to one host; the others wait in order.
///
/// Promises: at most `width` inside for a host; at most `perHost` waiting for it and `depth` for
/// all hosts, beyond that ``TooManyFetches``. A caller that is cancelled while it waits gives its
/// place back. Remembers a host only while somebody is inside or waiting.
final class HostGate: Sendable {
    private struct Waiter {
        let ticket: UInt64
        let admit: CheckedContinuation<Void, any Error>
    }

    private struct Host {
        var inside = 0
        var waiting: [Waiter] = []
    }

    private struct State {
        var hosts: [FetchTarget.Host: Host] = [:]
        var waiting = 0
        var nextTicket: UInt64 = 0
    }

    private enum Entry {
        case admitted, waits, refused
    }

    private let width: Int
    private let perHost: Int
    private let depth: Int
    private let onWait: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter onWait: told of each caller that has to wait, once it does.
    init(
        width: Int, perHost: Int, depth: Int, onWait: @escaping @Sendable () -> Void = {}
    ) {
        precondition(width > 0 && perHost >= 0 && depth >= 0)
        self.onWait = onWait
        self.width = width
        self.perHost = perHost
        self.depth = depth
    }

    /// Hosts that somebody is inside of or waits for, and how many wait.
    var occupancy: (hosts: Int, waiting: Int) {
        state.withLock { ($0.hosts.count, $0.waiting) }
    }

    func withPlace<T: Sendable>(
        at host: FetchTarget.Host, _ body: @Sendable () async throws -> T
    ) async throws -> T {
        try await enter(host)
        defer { leave(host) }
        return try await body()
    }

    private func enter(_ host: FetchTarget.Host) async throws {
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.nextTicket &+= 1
            return state.nextTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                switch place(Waiter(ticket: ticket, admit: continuation), at: host) {
                case .admitted: continuation.resume()
                case .refused: continuation.resume(throwing: TooManyFetches())
                case .waits:
                    onWait()
                    // Cancelled before this point, there was nobody to withdraw yet.
                    if Task.isCancelled { withdraw(ticket, from: host) }
                }
            }
        } onCancel: {
            withdraw(ticket, from: host)
        }
    }

    private func place(_ waiter: Waiter, at host: FetchTarget.Host) -> Entry {
        state.withLock { state in
            var here = state.hosts[host] ?? Host()
            if here.inside < width {
                here.inside += 1
                state.hosts[host] = here
                return .admitted
            }
            guard here.waiting.count < perHost, state.waiting < depth else { return .refused }
            here.waiting.append(waiter)
            state.waiting += 1
            state.hosts[host] = here
            return .waits
        }
    }

    private func leave(_ host: FetchTarget.Host) {
        let next: Waiter? = state.withLock { state in
            guard var here = state.hosts[host] else { return nil }
            // The place goes from hand to hand: nobody who comes now gets in between.
            if !here.waiting.isEmpty {
                state.waiting -= 1
                let next = here.waiting.removeFirst()
                state.hosts[host] = here
                return next
            }
            here.inside -= 1
            state.hosts[host] = here.inside == 0 ? nil : here
            return nil
        }
        next?.admit.resume()
    }

    private func withdraw(_ ticket: UInt64, from host: FetchTarget.Host) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.hosts[host]?.waiting.firstIndex(where: { $0.ticket == ticket })
            else { return nil }
            state.waiting -= 1
            return state.hosts[host]?.waiting.remove(at: index)
        }
        waiter?.admit.resume(throwing: CancellationError())
    }
}
