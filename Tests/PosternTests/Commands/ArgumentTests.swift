import ArgumentParser
import Testing

@testable import postern

@Suite struct ArgumentTests {
    private func isAccepted(_ arguments: String...) -> Bool {
        (try? Postern.parseAsRoot(arguments)) != nil
    }

    @Test func signupChecksItsArgumentsBeforeAnyWork() {
        #expect(isAccepted("signup", "--server", "http://a.test", "--username", "agent"))
        #expect(!isAccepted("signup", "--server", "a.test", "--username", "agent"))
        #expect(!isAccepted("signup", "--server", "http://a.test", "--username", "../etc/x"))
        #expect(!isAccepted("signup", "--server", "http://a.test", "--username", "abc"))
        #expect(!isAccepted("signup", "--username", "agent"))
        for threads in ["0", "-1", "257", "x"] {
            #expect(
                !isAccepted(
                    "signup", "--server", "http://a.test", "--username", "agent", "--threads",
                    threads), "\(threads)")
        }
    }

    @Test func addressesAndKeyUsesAreChecked() {
        #expect(isAccepted("account", "delete", "a@mail.test"))
        #expect(!isAccepted("account", "delete", "no address"))
        #expect(isAccepted("key", "rotate", "--use", "capability"))
        #expect(!isAccepted("key", "rotate", "--use", "other"))
        #expect(!isAccepted("key", "rotate"))
    }

    @Test func usersAndDomainsAreCheckedBeforeAnyWork() {
        #expect(isAccepted("user", "add", "ada@example.test", "--password-stdin"))
        #expect(!isAccepted("user", "add", "no email"))
        #expect(!isAccepted("user", "add", "ada@example.test", "--password", "secret12"))
        #expect(isAccepted("user", "passwd", "ada@example.test"))
        #expect(isAccepted("domain", "add", "example.test", "--pro-only"))
        #expect(isAccepted("domain", "add", "example.test", "--owner", "a@b.test", "--verified"))
        #expect(!isAccepted("domain", "add", "-example.test"))
        #expect(!isAccepted("domain", "add", "example.test", "--verified"))
        #expect(!isAccepted("domain", "add", "example.test", "--owner", "a@b.test", "--pro-only"))
    }

    @Test func numbersAndTimesOfAuditCommandsAreChecked() {
        #expect(isAccepted("audit", "tail", "-n", "0", "-f"))
        #expect(!isAccepted("audit", "tail", "-n", "-1"))
        #expect(!isAccepted("audit", "tail", "-n", "10001"))
        #expect(isAccepted("audit", "export", "--since", "2026-01-15", "--format", "json"))
        #expect(!isAccepted("audit", "export", "--since", "yesterday"))
        #expect(!isAccepted("audit", "export", "--format", "xml"))
        #expect(isAccepted("audit", "follow", "--json", "--after", "12", "--once"))
        #expect(!isAccepted("audit", "follow", "--after", "-1"))
        #expect(!isAccepted("audit", "follow", "--after", "9223372036854775808"))
    }

    @Test func theConfigurationChecksTheOptionsOfServe() {
        #expect(isAccepted("serve", "--port", "notanumber", "--profile", "nope"))
    }

    /// The terminal wraps lines at its width. Lines that are already broken would become ragged.
    @Test func everyParagraphOfHelpIsOneLine() {
        func check(_ command: any ParsableCommand.Type) {
            let lines = command.configuration.discussion.split(
                separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst())
            where !line.isEmpty && !next.isEmpty {
                let isBroken = !line.hasPrefix("  ") && !next.hasPrefix("  ")
                #expect(!isBroken, "\(command): \(line)")
            }
            command.configuration.subcommands.forEach(check)
        }
        check(Postern.self)
    }

    @Test func everyCommandHasAnAbstractAndExamples() {
        for command in Postern.configuration.subcommands {
            #expect(!command.configuration.abstract.isEmpty)
            #expect(command.helpMessage().contains("xample"))
        }
    }
}
