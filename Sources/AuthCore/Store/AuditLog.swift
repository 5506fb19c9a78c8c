/// Stores the audit events, append-only: an event is never changed, and only
/// ``trim(before:limit:)`` removes events, the oldest first.
public protocol AuditLog: Sendable {
    /// Adds an event for which nothing else is stored, such as a login.
    func append(_ event: AuditEvent) async throws

    /// At most `limit` events after number `sequence`, or from the first when it is `nil`, oldest
    /// first.
    func events(after sequence: Int64?, limit: Int) async throws -> [AuditRecord]

    /// The latest `limit` events, oldest first.
    func latestEvents(limit: Int) async throws -> [AuditRecord]

    /// Removes at most `limit` events older than `instant`.
    /// - Returns: how many were removed.
    func trim(before instant: Instant, limit: Int) async throws -> Int
}

/// An event and its number in the audit log.
public struct AuditRecord: Equatable, Sendable {
    /// Increases by one with each event.
    public let sequence: Int64
    public let event: AuditEvent

    public init(sequence: Int64, event: AuditEvent) {
        self.sequence = sequence
        self.event = event
    }
}
