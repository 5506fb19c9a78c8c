internal import AuthCore

/// Reports of one kind. The first is passed on at once; those of the next minute are counted, and
/// their number is passed on with the next report.
struct FoldedReports {
    private static let interval = Duration.seconds(60)
    private var last: Instant?
    private var count = 0

    /// - Returns: the number to report; `nil` while reports are only counted.
    mutating func note(at now: Instant) -> Int? {
        count += 1
        if let last, now >= last, now.since(last) < Self.interval { return nil }
        last = now
        defer { count = 0 }
        return count
    }
}
