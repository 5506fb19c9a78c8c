public import Networking
internal import Synchronization

/// An event for the operator's log: a rejected request that may be an attack, or a change of the
/// valid tokens. Contains no secret.
public struct SecurityEvent: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// A token, cookie or challenge that was sent is not valid, or not valid any more.
        case tokenRejected = "token_rejected"
        /// A login or another costly attempt came before its wait was over.
        case attemptThrottled = "attempt_throttled"
        /// The URL of a user leads to a forbidden address.
        case addressRefused = "address_refused"
        /// Another key signs the tokens of a use.
        case signingKeyChanged = "signing_key_changed"
    }

    public let kind: Kind
    /// The template of the route, the origin of the URL, or a use of keys and the id of a key.
    public let subject: String
    /// `nil` if no client has caused the event.
    public let client: IPAddress?
    /// Empty if no client has caused the event.
    public let requestID: String

    public init(_ kind: Kind, subject: String, by caller: Caller) {
        self.kind = kind
        self.subject = subject
        client = caller.address
        requestID = caller.requestID
    }

    /// An event that no client has caused.
    public init(_ kind: Kind, subject: String) {
        self.kind = kind
        self.subject = subject
        client = nil
        requestID = ""
    }
}

/// Passes security events on so that an attack cannot flood the log. The first event of a kind, a
/// subject and a client is passed on at once. Those that follow are combined into one with their
/// number, which is passed on when ``flush()`` is called.
public final class SecurityEvents: Sendable {
    private struct Key: Hashable {
        let kind: SecurityEvent.Kind
        let subject: String
        /// `nil` for clients beyond the capacity, and for events that no client has caused.
        let client: IPBlock?
    }

    private struct Entry {
        var last: SecurityEvent
        /// The number of events after the one that was passed on.
        var repeats = 0
    }

    /// The largest number of clients and subjects that are counted separately between two flushes.
    static let capacity = 4096

    private let report: @Sendable (SecurityEvent, Int) -> Void
    private let entries = Mutex([Key: Entry]())

    /// - Parameter report: called with an event and the number of events that it stands for. It
    ///   must return at once.
    public init(_ report: @escaping @Sendable (SecurityEvent, Int) -> Void) {
        self.report = report
    }

    public func record(_ event: SecurityEvent) {
        let isFirst = entries.withLock { entries in
            var key = Key(kind: event.kind, subject: event.subject, client: event.client?.client)
            if entries[key] == nil, entries.count >= Self.capacity {
                key = Key(kind: event.kind, subject: "", client: nil)
            }
            guard entries[key] != nil else {
                entries[key] = Entry(last: event)
                return true
            }
            entries[key]?.last = event
            entries[key]?.repeats += 1
            return false
        }
        if isFirst { report(event, 1) }
    }

    /// Passes on the events that were combined since the last call. Call it once a minute.
    public func flush() {
        let ended = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values.filter { $0.repeats > 0 }
        }
        for entry in ended { report(entry.last, entry.repeats) }
    }
}
