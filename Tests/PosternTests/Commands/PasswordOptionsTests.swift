import Dispatch
import Glibc
import Platform
import TestPrimitives
import Testing

@testable import postern

@Suite struct PasswordOptionsTests {
    private func line(_ text: String) -> Result<[UInt8], PasswordError> {
        let pipe = Pipe()
        _ = Array(text.utf8).withUnsafeBytes { write(pipe.writer, $0.baseAddress, $0.count) }
        return pipe.reading { descriptor in
            Result { () throws(PasswordError) in try PasswordReader.line(from: descriptor) }
        }
    }

    @Test(arguments: [
        ("secret1\n", "secret1"), ("secret1\r\nrest\n", "secret1"), ("secret1", "secret1"),
        ("  sp ace \n", "  sp ace "), ("pässwörd\n", "pässwörd"),
    ])
    func theFirstLineIsThePassword(text: String, password: String) {
        #expect(line(text) == .success(Array(password.utf8)))
    }

    @Test func otherLengthsAreErrorsAndNoMoreIsRead() {
        #expect(line("") == .failure(.length))
        #expect(line("12345\n") == .failure(.length))
        #expect(line("12345\r\n") == .failure(.length))
        let most = String(repeating: "a", count: 1024)
        #expect(line(most + "\r\n") == .success(Array(most.utf8)))
        #expect(line(most + "b\n") == .failure(.length))
        #expect(line(String(repeating: "a", count: 50_000)) == .failure(.length))
    }

    @Test func anUnreadableInputIsAnError() {
        let fault = Result { () throws(PasswordError) in try PasswordReader.line(from: -1) }
        #expect(fault == .failure(.unreadable(.system(EBADF))))
    }

    @Test func aPipeIsNotAskedForAPassword() {
        let pipe = Pipe()
        let fault = Result { () throws(PasswordError) in
            try PasswordReader(input: pipe.writer, prompts: pipe.writer).askTwice()
        }
        #expect(fault == .failure(.noTerminal))
    }

    @Test(arguments: [("secret12", true), ("secret13", false)])
    func aTerminalIsAskedTwiceAndShowsNothing(second: String, fits: Bool) async throws {
        let terminal = try #require(Terminal())
        let descriptor = terminal.inside
        let shown = terminal.echoes
        let asking = Task {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "asking").async {
                    continuation.resume(
                        returning: Result { () throws(PasswordError) in
                            try PasswordReader(input: descriptor, prompts: descriptor).askTwice()
                        })
                }
            }
        }
        // Input before a prompt is discarded, so each answer waits for its prompt.
        var output = await terminal.output(upTo: "Password: ")
        #expect(!terminal.echoes)
        terminal.type("secret12\n")
        output += await terminal.output(upTo: "again: ")
        terminal.type("\(second)\n")
        let answer = await asking.value
        output += await terminal.output(upTo: "\n")
        #expect(answer == (fits ? .success(Array("secret12".utf8)) : .failure(.different)))
        #expect(!output.contains("secret"))
        #expect(shown && terminal.echoes)
    }
}

/// A pseudo terminal with its two ends.
private final class Terminal: Sendable {
    private let outside: Int32
    let inside: Int32

    init?() {
        var ends: (outside: Int32, inside: Int32) = (-1, -1)
        guard openpty(&ends.outside, &ends.inside, nil, nil, nil) == 0 else { return nil }
        (outside, inside) = ends
    }

    var echoes: Bool {
        var state = termios()
        tcgetattr(inside, &state)
        return state.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(outside, $0.baseAddress, $0.count) }
    }

    /// The output of the terminal up to `end`.
    func output(upTo end: String) async -> String {
        let outside = outside
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "terminal").async {
                var text = ""
                var byte: UInt8 = 0
                while !text.hasSuffix(end) {
                    // CR is removed, because CR LF is one character for Swift.
                    guard read(outside, &byte, 1) == 1 else { break }
                    if byte != 0x0d { text.unicodeScalars.append(Unicode.Scalar(byte)) }
                }
                continuation.resume(returning: text)
            }
        }
    }

    deinit {
        close(inside)
        close(outside)
    }
}

extension Pipe {
    /// Closes the writing end and reads from the other one.
    fileprivate func reading<T>(_ body: (Int32) -> T) -> T {
        close(writer)
        return body(reader)
    }
}
