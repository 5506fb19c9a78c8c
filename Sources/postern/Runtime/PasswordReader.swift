internal import AuthCore
internal import Dispatch
internal import Glibc

/// Reads a new password from a terminal without showing it, or from a pipe.
///
/// The terminal is left as it was found, also when the process is interrupted meanwhile.
struct PasswordReader {
    /// A terminal.
    let input: Int32
    /// Where the questions are put.
    let prompts: Int32

    func askTwice() throws(PasswordFault) -> [UInt8] {
        let first = try ask("Password: ")
        guard try ask("Password, again: ") == first else { throw .different }
        return first
    }

    private func ask(_ question: String) throws(PasswordFault) -> [UInt8] {
        guard let silence = Silence(of: input) else { throw .noTerminal }
        defer {
            silence.end()
            say("\n")
        }
        say(question)
        return try Self.line(from: input)
    }

    private func say(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(prompts, $0.baseAddress, $0.count) }
    }

    /// One line without its end, octet by octet, so that nothing behind it is swallowed.
    static func line(from descriptor: Int32) throws(PasswordFault) -> [UInt8] {
        let lengths = MailboxSecret.passwordOctets
        var line: [UInt8] = []
        var octet: UInt8 = 0
        while true {
            let count = Glibc.read(descriptor, &octet, 1)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(.last) }
            if count == 0 || octet == 0x0a { break }
            line.append(octet)
            // One more than fits may be the CR of the line's end.
            guard line.count <= lengths.upperBound + 1 else { throw .length }
        }
        if line.last == 0x0d { line.removeLast() }
        guard lengths.contains(line.count) else { throw .length }
        return line
    }
}

/// A terminal that does not show what is typed, until ``end()``.
private struct Silence {
    private let terminal: Int32
    private let before: termios
    private let signals: [any DispatchSourceSignal]

    /// - Returns: `nil` for what is no terminal.
    init?(of terminal: Int32) {
        var state = termios()
        guard tcgetattr(terminal, &state) == 0 else { return nil }
        let before = state
        self.terminal = terminal
        self.before = before
        let queue = DispatchQueue(label: "silence")
        signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].map { number in
            // The default action would leave the terminal mute behind us.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                Self.restore(terminal, before)
                _exit(128 + number)
            }
            source.activate()
            return source
        }
        state.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &state)
    }

    func end() {
        Self.restore(terminal, before)
        for source in signals { source.cancel() }
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { signal(number, SIG_DFL) }
    }

    private static func restore(_ terminal: Int32, _ state: termios) {
        var state = state
        tcsetattr(terminal, TCSANOW, &state)
    }
}

/// Why there is no password.
enum PasswordFault: Error, Equatable, CustomStringConvertible {
    case noTerminal
    case different
    case length
    case unreadable(FileFault)

    var description: String {
        switch self {
        case .noTerminal:
            "standard input is no terminal to ask at; give --password-stdin to read it from there"
        case .different: "the two passwords differ"
        case .length:
            "a password has \(MailboxSecret.passwordOctets.lowerBound) to"
                + " \(MailboxSecret.passwordOctets.upperBound) octets"
        case .unreadable(let fault): "the password cannot be read: \(fault)"
        }
    }
}
