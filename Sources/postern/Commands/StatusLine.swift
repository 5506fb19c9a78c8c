internal import Glibc

/// How far long work is, on standard error: one line that is rewritten on a terminal, a line every
/// ten seconds elsewhere, so that a log shows that something happens and is not filled by it.
struct StatusLine {
    private let isTerminal: Bool
    private let interval: Duration
    private var shown: ContinuousClock.Instant
    private var isDirty = false

    /// - Parameter begin: nothing is shown before an interval has passed since.
    init(isTerminal: Bool, since begin: ContinuousClock.Instant) {
        self.isTerminal = isTerminal
        interval = isTerminal ? .milliseconds(100) : .seconds(10)
        shown = begin
    }

    static func onStandardError() -> StatusLine {
        StatusLine(isTerminal: isatty(STDERR_FILENO) == 1, since: .now)
    }

    mutating func show(_ text: @autoclosure () -> String) {
        if let line = due(text(), at: .now) { Output.complain(line, end: "") }
    }

    /// Makes room for what else is said.
    mutating func end() {
        if isDirty { Output.complain("\r\u{1b}[K", end: "") }
        isDirty = false
    }

    /// - Returns: what to write now, `nil` while the last one is young.
    mutating func due(_ text: @autoclosure () -> String, at now: ContinuousClock.Instant) -> String?
    {
        guard now - shown >= interval else { return nil }
        shown = now
        isDirty = isTerminal
        return isTerminal ? "\r\(text())\u{1b}[K" : text() + "\n"
    }
}
