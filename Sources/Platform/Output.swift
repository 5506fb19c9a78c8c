internal import Glibc

/// The output of a command: results go to standard output, messages to standard error.
public enum Output {
    /// Writes to standard output and ignores failures.
    public static func print(_ text: String) {
        write(withNewline(text), to: STDOUT_FILENO)
    }

    /// Writes a result to standard output that must not be lost unnoticed.
    /// - Throws: when not all of it could be written.
    public static func deliver(_ text: String) throws(OutputError) {
        guard write(withNewline(text), to: STDOUT_FILENO) else { throw OutputError(cause: .last) }
    }

    /// Writes a message to standard error and ignores failures.
    public static func message(_ text: String, end: String = "\n") {
        write(text + end, to: STDERR_FILENO)
    }

    /// Tells a user at a terminal that the command waits for input.
    public static func explainWaiting(for what: String) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        message("reading \(what) from standard input; end it with Ctrl-D")
    }

    private static func withNewline(_ text: String) -> String {
        text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    /// Writes without a buffer.
    /// - Returns: `false` when the reader has closed the pipe or the disk is full.
    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// Not all of the text could be written to standard output.
public struct OutputError: Error, CustomStringConvertible {
    let cause: FileError

    public var description: String { "cannot write to standard output: \(cause)" }
}

/// The progress of a long task on standard error. On a terminal one line is rewritten. Elsewhere a
/// line is written every ten seconds, so that a log shows progress and stays short.
public struct StatusLine {
    private let isTerminal: Bool
    private let interval: Duration
    private var shown: ContinuousClock.Instant
    private var isLineOpen = false

    /// - Parameter begin: when the task began; nothing is shown in the first interval.
    init(isTerminal: Bool, since begin: ContinuousClock.Instant) {
        self.isTerminal = isTerminal
        interval = isTerminal ? .milliseconds(100) : .seconds(10)
        shown = begin
    }

    public static func onStandardError() -> StatusLine {
        StatusLine(isTerminal: isatty(STDERR_FILENO) == 1, since: .now)
    }

    public mutating func show(_ text: @autoclosure () -> String) {
        if let line = due(text(), at: .now) { Output.message(line, end: "") }
    }

    /// Clears the line, so that other text can be written.
    public mutating func end() {
        if isLineOpen { Output.message("\r\u{1b}[K", end: "") }
        isLineOpen = false
    }

    /// - Returns: what to write now; `nil` before the interval since the last text has passed.
    mutating func due(_ text: @autoclosure () -> String, at now: ContinuousClock.Instant) -> String?
    {
        guard now - shown >= interval else { return nil }
        shown = now
        isLineOpen = isTerminal
        return isTerminal ? "\r\(text())\u{1b}[K" : text() + "\n"
    }
}
