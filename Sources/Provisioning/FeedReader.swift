public import AuthCore

/// Reads the feed of account events from a given number on, and detects missing events.
public struct FeedReader {
    private let feed: any AccountFeed
    /// The number of the last event that was read.
    private(set) var last: Int64
    private var isChecked: Bool

    /// - Parameter number: the number of the last event that was read; 0 begins with the oldest
    ///   event.
    public init(_ feed: any AccountFeed, after number: Int64) {
        self.feed = feed
        last = number
        isChecked = number == 0
    }

    /// - Returns: the next events, at most `limit`; none when all were read.
    /// - Throws: ``FeedError``.
    public mutating func next(limit: Int) async throws -> [AccountEvent] {
        var page = try await feed.accountEvents(after: last, limit: limit)
        if page.isEmpty, !isChecked {
            let end = try await feed.lastAccountEvent()
            guard last <= end else { throw FeedError.unknownNumber(last, end: end) }
            // An event may have been added between the two queries.
            page = try await feed.accountEvents(after: last, limit: limit)
            guard last == end || !page.isEmpty else {
                throw FeedError.removed(after: last, until: end)
            }
        }
        isChecked = true
        guard let first = page.first, let end = page.last else { return [] }
        guard last == 0 || first.number - 1 == last else {
            throw FeedError.removed(after: last, until: first.number - 1)
        }
        last = end.number
        return page
    }
}

/// Why the feed cannot be continued after a number.
public enum FeedError: Error, Equatable, CustomStringConvertible {
    /// `audit.retention` has removed events that were not read.
    case removed(after: Int64, until: Int64)
    /// There is no event with this number. It is from another database, or from one that was
    /// restored.
    case unknownNumber(Int64, end: Int64)

    public var description: String {
        switch self {
        case .removed(let last, let end):
            "the events after \(last) until \(end) were removed (audit.retention); compare with"
                + " `postern account list --json`, then follow after \(end)"
        case .unknownNumber(let number, let end):
            "there is no event \(number), the last one is \(end): the number is of another"
                + " database, or the database was restored; compare with"
                + " `postern account list --json`, then follow after \(end)"
        }
    }
}
