internal import ArgumentParser
internal import Glibc

/// Where a new password comes from.
struct PasswordOptions: ParsableArguments {
    @Flag(help: "Take the first line of standard input as the password.")
    var passwordStdin = false

    /// The new password, long enough and not too long.
    /// - Throws: `ExitCode` once what is wrong has been said.
    func read() throws -> [UInt8] {
        do throws(PasswordFault) {
            // At a terminal the flag changes nothing: what is typed there must not be shown.
            guard isatty(STDIN_FILENO) == 1 else {
                guard passwordStdin else { throw .noTerminal }
                return try PasswordReader.line(from: STDIN_FILENO)
            }
            return try PasswordReader(input: STDIN_FILENO, prompts: STDERR_FILENO).askTwice()
        } catch {
            Output.complain("\(error)")
            throw ExitCode.failure
        }
    }
}
