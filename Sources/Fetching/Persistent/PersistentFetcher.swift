public import Networking
internal import Scheduling

/// Sends requests to a server that the operator has named, over connections that are kept open.
///
/// Guarantees: a request takes no thread while it waits; each ends within its timeout, the time of
/// waiting included; at most ``FetchLimits/perTarget`` run at once, and a client and a site have
/// their shares of them; no response larger than its limit is kept.
public final class PersistentFetcher: Sendable {
    private let origin: FetchSlots.Target
    private let slots: FetchSlots
    private let transfers: TransferLoop

    /// - Parameters:
    ///   - origin: the server, for the count of its requests.
    ///   - limits: those of slots and waiting; a request has its own of bytes and time.
    public init(origin: String, limits: FetchLimits) {
        self.origin = .name(origin)
        slots = FetchSlots(limits: limits, onWait: {})
        transfers = TransferLoop(idle: limits.perTarget)
    }

    /// - Throws: ``OutboundError``, or `CancellationError` when cancelled.
    public func send(
        _ request: OutboundRequest, for client: IPAddress
    ) async throws -> FetchedResponse {
        let deadline = ContinuousClock.now + request.timeout
        do {
            return try await withDeadline(deadline) { [slots, origin, transfers] in
                try await slots.hold(for: client) {
                    try await slots.hold(origin, for: client) {
                        var request = request
                        request.timeout = deadline - .now
                        return try await transfers.perform(request)
                    }
                }
            }
        } catch is DeadlinePassed {
            throw OutboundError.timedOut
        } catch is KeyLimitReached {
            throw OutboundError.busy
        }
    }
}
