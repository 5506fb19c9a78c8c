import TestSupport
import Testing

@testable import AuthCore

struct AddressPolicyTests {
    @Test func aUsernameBecomesAnAddressOnTheFirstDomain() throws {
        let username = try Username(parsing: " MyAgent ")
        #expect(try AgentWorld.policy.address(for: username).description == "myagent@mail.test")
    }

    @Test(arguments: [
        "admin", "Administrator", "postmaster", "security", "mailer-daemon", "abuse", "cyrus",
        "anyone", "anonymous", "dovecot", "vmail", "nobody",
    ])
    func reservedNamesAreNotAllowed(name: String) throws {
        let username = try Username(parsing: name)
        #expect(throws: AgentError.usernameNotAllowed) {
            try AgentWorld.policy.address(for: username)
        }
    }

    @Test(arguments: [
        "four", "twentytwo-characters-x", "", "a b c d", "name+tag", ".dotted", "dotted.",
        "dot..ted", "näme-x", "name@mail.test", "na/me/x", "name\u{0}x",
    ])
    func anInvalidUsernameIsRejectedWithTheRuleThatItBreaks(name: String) {
        do {
            _ = try Username(parsing: name)
            Issue.record("\(name) was accepted")
        } catch {
            guard case .invalidUsername(let rule) = error else {
                Issue.record("rejected with \(error)")
                return
            }
            #expect(!rule.isEmpty)
        }
    }

    @Test func aUsernameMustBeASCII() {
        let rule = "only ASCII letters, digits, `.`, `_` and `-` are accepted"
        #expect(throws: AgentError.invalidUsername(rule)) { try Username(parsing: "näme-x") }
    }

    @Test func aNewNameMustNotContainTheSubaddressDelimiter() throws {
        let policy = AddressPolicy(domains: AgentWorld.policy.domains, subaddressDelimiter: "-")
        let username = try Username(parsing: "my-agent")
        #expect(throws: AgentError.invalidUsername("it must not contain `-`")) {
            try policy.address(for: username)
        }
        #expect(try AgentWorld.policy.address(for: username).localPart.text == "my-agent")
        let name = try #require(LocalPart(parsing: "my-box"))
        #expect(!policy.allowsNewName(name))
        #expect(AgentWorld.policy.allowsNewName(name))
    }

    @Test(arguments: ["+", "-", nil] as [Character?])
    func aPlusIsNeverPartOfANewNameWhateverTheDelimiterIs(delimiter: Character?) throws {
        let policy = AddressPolicy(
            domains: AgentWorld.policy.domains, subaddressDelimiter: delimiter)
        #expect(!policy.allowsNewName(try #require(LocalPart(parsing: "a+b"))))
        #expect(policy.allowsNewName(try #require(LocalPart(parsing: "a_b"))))
    }
}
