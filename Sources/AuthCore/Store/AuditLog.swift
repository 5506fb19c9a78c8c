public import StrictJSON

/// Stores the audit events, append-only: an event is never changed, and only
/// ``trim(before:limit:)`` removes events, the oldest first.
///
/// Events of a kind that is folded (``AuditEvent/Kind/isFolded``) are one record if they have the
/// same subject, come from the same client network and lie in the same minute. The record is that
/// of the first event, with a count of all.
public protocol AuditLog: Sendable {
    /// Adds an event for which nothing else is stored, such as a login.
    func append(_ event: AuditEvent) async throws

    /// Whether `name` has logged in from a client network since `instant`, as far back as events
    /// are kept.
    /// - Parameter network: as in ``AuditEvent/network``.
    func hasLoggedIn(_ name: LoginName, from network: String, since instant: Instant) async throws
        -> Bool

    /// At most `limit` events after number `sequence`, or from the first when it is `nil`, oldest
    /// first. Continuing after the last number misses no event: if a number is missing and its
    /// event may still be committed, the list ends before it for some seconds.
    func events(after sequence: Int64?, limit: Int) async throws -> [AuditRecord]

    /// The latest `limit` events, oldest first.
    func latestEvents(limit: Int) async throws -> [AuditRecord]

    /// Removes at most `limit` events older than `instant`.
    /// - Returns: how many were removed.
    func trim(before instant: Instant, limit: Int) async throws -> Int
}

/// An event and its number in the audit log.
public struct AuditRecord: Equatable, Sendable {
    /// Increases with each event. An engine may leave a number out.
    public let sequence: Int64
    public let event: AuditEvent
    /// How many events were folded into this one, itself included.
    public let count: Int64

    public init(sequence: Int64, event: AuditEvent, count: Int64 = 1) {
        self.sequence = sequence
        self.event = event
        self.count = count
    }

    /// The members of its JSON object, for operators and test suites.
    public func write(to members: inout JSONWriter) {
        members.member("sequence", sequence)
        members.member("time", event.time.rfc3339)
        members.member("kind", event.kind.rawValue)
        members.member("actor", event.actor.description)
        members.member("subject", event.subject)
        members.member("client", event.client)
        members.member("request_id", event.requestID)
        members.member("count", count)
    }
}
