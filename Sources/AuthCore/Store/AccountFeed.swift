/// The changes of accounts in their order, for programs that create, lock and remove mailboxes at
/// the mail store.
///
/// The methods of ``AccountStore`` and ``AccountDirectory`` that make such a change write its event
/// in the same transaction. Numbers have no gaps, but old events may be removed. An event gets its
/// number when it is committed, so none appears later with a lower number than one that was read.
/// Events of one address are numbered in the order of the changes.
///
/// Errors as in ``AccountStore``.
public protocol AccountFeed: Sendable {
    /// At most `limit` events after `number`, in the order of their numbers; 0 is before the first.
    func accountEvents(after number: Int64, limit: Int) async throws -> [AccountEvent]

    /// The number of the last event, also when it was removed; 0 when there was none.
    func lastAccountEvent() async throws -> Int64

    /// Removes at most `limit` events older than `instant`, the oldest first.
    /// - Parameter keepingUndelivered: whether events that the receiver has not accepted, and all
    ///   events after them, stay.
    /// - Returns: how many were removed.
    func trimAccountEvents(
        before instant: Instant, limit: Int, keepingUndelivered: Bool
    ) async throws -> Int
}

/// The events that the receiver has accepted, and the times at which the others are sent.
///
/// The first event of an address that was not accepted is due at once, and after a failure at a
/// later time. The next events of the address, also those of a later account, are due only after it
/// was accepted. Several servers may call the methods at the same time.
public protocol DeliveryQueue: Sendable {
    /// Whether ``takeDueEvents(at:until:limit:)`` would find an event.
    func hasDueEvent(at now: Instant) async throws -> Bool

    /// Takes events that are due, at most `limit`. Each counts as tried and is due again at
    /// `retry`, so that no event is lost if its sender is killed.
    func takeDueEvents(
        at now: Instant, until retry: Instant, limit: Int
    ) async throws -> [PendingEvent]

    /// The receiver has accepted the event.
    /// - Returns: `false` when it was accepted before, or there is no such event.
    func noteAccepted(_ number: Int64, at now: Instant) async throws -> Bool

    /// The event was not accepted, and is due again at `instant`.
    func postpone(_ number: Int64, until instant: Instant) async throws

    /// - Parameter limit: of ``DeliveryStatus/failing``.
    func deliveryStatus(limit: Int) async throws -> DeliveryStatus
}

/// An event that the receiver has not accepted.
public struct PendingEvent: Equatable, Sendable {
    public let event: AccountEvent
    /// How often it was taken.
    public let attempts: Int64
    /// When it is sent next.
    public let due: Instant

    public init(event: AccountEvent, attempts: Int64, due: Instant) {
        self.event = event
        self.attempts = attempts
        self.due = due
    }
}

/// The progress of the receiver.
public struct DeliveryStatus: Equatable, Sendable {
    /// Events are counted up to this number.
    public static let countLimit: Int64 = 1000

    /// How many events it has not accepted.
    public let waiting: Int64
    /// The events that were tried, in the order in which they are due.
    public let failing: [PendingEvent]

    public init(waiting: Int64, failing: [PendingEvent]) {
        self.waiting = waiting
        self.failing = failing
    }
}
