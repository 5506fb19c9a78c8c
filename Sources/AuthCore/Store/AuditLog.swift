/// The append-only record of credential events. Nothing in it is ever changed; it is trimmed from
/// its old end only, by ``trim(before:limit:)``.
public protocol AuditLog: Sendable {
    /// Adds an event of its own, one that changes nothing else (a login).
    func append(_ event: AuditEvent) async throws

    /// The events after number `sequence` (from the first when `nil`), oldest first, at most
    /// `limit`.
    func events(after sequence: Int64?, limit: Int) async throws -> [AuditRecord]

    /// The latest `limit` events, oldest first.
    func latestEvents(limit: Int) async throws -> [AuditRecord]

    /// Removes at most `limit` events older than `instant`.
    /// - Returns: how many went.
    func trim(before instant: Instant, limit: Int) async throws -> Int
}

/// An event and its place in the record.
public struct AuditRecord: Equatable, Sendable {
    /// Rises by one with each event.
    public let sequence: Int64
    public let event: AuditEvent

    public init(sequence: Int64, event: AuditEvent) {
        self.sequence = sequence
        self.event = event
    }
}
