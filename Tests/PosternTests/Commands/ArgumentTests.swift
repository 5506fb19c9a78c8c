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

    @Test func operatorsCommandsTakeAddressesAndKeyUses() {
        #expect(isAccepted("account", "delete", "a@mail.test"))
        #expect(!isAccepted("account", "delete", "no address"))
        #expect(isAccepted("key", "rotate", "--use", "capability"))
        #expect(!isAccepted("key", "rotate", "--use", "other"))
        #expect(!isAccepted("key", "rotate"))
    }

    @Test func badValuesOfServeAreLeftToTheConfiguration() {
        #expect(isAccepted("serve", "--port", "notanumber", "--profile", "nope"))
    }

    @Test func everyCommandTeaches() {
        for command in Postern.configuration.subcommands {
            #expect(!command.configuration.abstract.isEmpty)
            #expect(command.helpMessage().contains("xample") || command == KeyCommand.self)
        }
    }
}
