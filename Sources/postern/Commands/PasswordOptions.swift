internal import ArgumentParser
internal import AuthCore
internal import Dispatch
internal import Glibc
internal import Platform

/// Where a command reads a new password from.
struct PasswordOptions: ParsableArguments {
    @Flag(help: "Read the password from the first line of standard input.")
    var passwordStdin = false

    /// Reads the new password and checks its length.
    /// - Throws: `ExitCode` after the problem has been printed.
    func read() throws -> [UInt8] {
        do throws(PasswordError) {
            // On a terminal the flag changes nothing, because typed text must not be shown.
            guard isatty(STDIN_FILENO) == 1 else {
                guard passwordStdin else { throw .noTerminal }
                return try PasswordReader.line(from: STDIN_FILENO)
            }
            return try PasswordReader(input: STDIN_FILENO, prompts: STDERR_FILENO).askTwice()
        } catch {
            Output.message("\(error)")
            throw ExitCode.failure
        }
    }
}

/// Reads a new password from a terminal without showing it, or from a pipe.
///
/// The terminal gets its settings back, also when a signal ends the process during the question.
struct PasswordReader {
    /// The terminal that the password is typed on.
    let input: Int32
    /// The descriptor that the prompts are written to.
    let prompts: Int32

    func askTwice() throws(PasswordError) -> [UInt8] {
        let first = try ask("Password: ")
        guard try ask("Password, again: ") == first else { throw .different }
        return first
    }

    private func ask(_ question: String) throws(PasswordError) -> [UInt8] {
        guard let hidden = HiddenInput(on: input) else { throw .noTerminal }
        defer {
            hidden.end()
            prompt("\n")
        }
        prompt(question)
        return try Self.line(from: input)
    }

    private func prompt(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(prompts, $0.baseAddress, $0.count) }
    }

    /// Reads one line without its end. Reads byte by byte, so that the next line stays unread.
    static func line(from descriptor: Int32) throws(PasswordError) -> [UInt8] {
        let lengths = MailboxSecret.passwordBytes
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(.last) }
            if count == 0 || byte == UInt8(ascii: "\n") { break }
            line.append(byte)
            // One byte more than the maximum may be the CR of the line end.
            guard line.count <= lengths.upperBound + 1 else { throw .length }
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard lengths.contains(line.count) else { throw .length }
        return line
    }
}

/// A terminal that does not show typed text until ``end()``.
private struct HiddenInput {
    private static let handledSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let terminal: Int32
    private let before: termios
    private let signals: [any DispatchSourceSignal]

    /// - Returns: `nil` when the descriptor is not a terminal.
    init?(on terminal: Int32) {
        var state = termios()
        guard tcgetattr(terminal, &state) == 0 else { return nil }
        let before = state
        self.terminal = terminal
        self.before = before
        let queue = DispatchQueue(label: "hidden-input")
        signals = Self.handledSignals.map { number in
            // The default action would end the process and leave the terminal without echo.
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
        for number in Self.handledSignals { signal(number, SIG_DFL) }
    }

    private static func restore(_ terminal: Int32, _ state: termios) {
        var state = state
        tcsetattr(terminal, TCSANOW, &state)
    }
}

/// Why no password could be read.
enum PasswordError: Error, Equatable, CustomStringConvertible {
    case noTerminal
    case different
    case length
    case unreadable(FileError)

    var description: String {
        switch self {
        case .noTerminal:
            "standard input is not a terminal; use --password-stdin to read the password from it"
        case .different: "the two passwords differ"
        case .length:
            "a password has \(MailboxSecret.passwordBytes.lowerBound) to"
                + " \(MailboxSecret.passwordBytes.upperBound) bytes"
        case .unreadable(let error): "the password cannot be read: \(error)"
        }
    }
}
