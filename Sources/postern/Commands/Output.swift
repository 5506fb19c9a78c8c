internal import Glibc

/// What a command says: results to standard output, complaints to standard error.
enum Output {
    static func print(_ text: String) {
        write(lines(text), to: STDOUT_FILENO)
    }

    /// For what must not be lost unnoticed: what somebody asked to see.
    /// - Throws: when not all of it could be written.
    static func deliver(_ text: String) throws(OutputFault) {
        guard write(lines(text), to: STDOUT_FILENO) else { throw OutputFault(cause: .last) }
    }

    static func complain(_ text: String, end: String = "\n") {
        write(text + end, to: STDERR_FILENO)
    }

    /// For somebody at a terminal who wonders why nothing happens.
    static func explainWaiting(for what: String) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        complain("reading \(what) from standard input; end it with Ctrl-D")
    }

    /// Whole lines, or nothing.
    private static func lines(_ text: String) -> String {
        text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    /// Unbuffered.
    /// - Returns: `false` when the reader is gone, or there is no room.
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

/// Standard output did not take everything.
struct OutputFault: Error, CustomStringConvertible {
    let cause: FileFault

    var description: String { "cannot write to standard output: \(cause)" }
}
