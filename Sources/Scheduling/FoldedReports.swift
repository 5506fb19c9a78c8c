/// Reports of one kind. The first is passed on at once; those of the next minute are counted, and
/// their number is passed on with the next report.
public struct FoldedReports<Moment: InstantProtocol>: Sendable where Moment.Duration == Duration {
    private var last: Moment?
    private var count = 0

    public init() {}

    /// - Returns: the number to report; `nil` while reports are only counted.
    public mutating func note(at now: Moment) -> Int? {
        count += 1
        if let last, now >= last, last.duration(to: now) < .seconds(60) { return nil }
        last = now
        defer { count = 0 }
        return count
    }
}
