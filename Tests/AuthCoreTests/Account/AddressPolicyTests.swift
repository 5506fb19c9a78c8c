import AuthCore
import TestSupport
import Testing

struct AddressPolicyTests {
    @Test func aUsernameBecomesAnAddressOnTheFirstDomain() throws {
        let username = try Username(parsing: " MyAgent ")
        #expect(try AgentWorld.policy.address(for: username).description == "myagent@mail.test")
    }

    @Test(arguments: ["admin", "Administrator", "postmaster", "security", "mailer-daemon", "abuse"])
    func roleNamesAreTheOperators(name: String) throws {
        let username = try Username(parsing: name)
        #expect(throws: Refusal.usernameNotAllowed) {
            try AgentWorld.policy.address(for: username)
        }
    }

    @Test(arguments: [
        "four", "twentytwo-characters-x", "", "a b c d", "name+tag", ".dotted", "dotted.",
        "dot..ted", "näme-x", "name@mail.test", "na/me/x", "name\u{0}x",
    ])
    func whatIsNoUsernameIsRefusedWithTheRuleItBreaks(name: String) {
        do {
            _ = try Username(parsing: name)
            Issue.record("\(name) was taken")
        } catch {
            guard case .invalidUsername(let rule) = error else {
                Issue.record("refused with \(error)")
                return
            }
            #expect(!rule.isEmpty)
        }
    }

    @Test func theOperatorsDelimiterIsNotPartOfANewName() throws {
        let policy = AddressPolicy(domains: AgentWorld.policy.domains, subaddressDelimiter: "-")
        let username = try Username(parsing: "my-agent")
        #expect(throws: Refusal.invalidUsername("it must not contain `-`")) {
            try policy.address(for: username)
        }
        #expect(try AgentWorld.policy.address(for: username).localPart.text == "my-agent")
    }
}
