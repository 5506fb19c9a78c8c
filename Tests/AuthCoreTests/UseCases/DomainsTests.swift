import AuthCore
import TestSupport
import Testing

struct DomainsTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    private func add(_ name: String, for user: User) async throws -> HostedDomain {
        try await world.domains.add(name, for: user, by: world.caller).domain
    }

    /// Publishes the TXT record of a domain and has it verified.
    private func verify(_ domain: HostedDomain, of user: User) async throws {
        world.resolver.publish(
            text: "postern-verify=\(domain.verifyToken)", at: "postern-verify.\(domain.name)")
        let inspection = try await world.domains.verify(domain.id, of: user, by: world.caller)
        #expect(inspection.verification == .verified)
    }

    @Test func theSystemDomainsAreTheConfiguredOnesAndThenThoseAddedByTheOperator() async throws {
        try await world.addDomain("pro.test", isProOnly: true)
        // In the configuration as well: listed once.
        try await world.addDomain("mail.test")
        let domains = try await world.domains.system()
        #expect(domains.map(\.name.text) == ["mail.test", "pro.test"])
        #expect(domains.map(\.isProOnly) == [false, true])
    }

    @Test func theIDOfAConfiguredDomainNeverChanges() async throws {
        let id = try #require(try await world.domains.system().first).id
        #expect(try #require(try await AgentWorld().domains.system().first).id == id)
        #expect(id.text == "6890df79-51e4-4b85-92ac-daa2c880a5d0")
    }

    @Test func anAddedDomainIsPendingAndListedForItsUserOnly() async throws {
        let user = try await world.addUser("ada@example.test")
        let other = try await world.addUser("other@example.test")
        let (domain, records) = try await world.domains.add(
            " Example.TEST ", for: user, by: world.caller)
        #expect(domain.name.text == "example.test" && domain.verification == .pending)
        #expect(records == domain.records(exchanger: AgentWorld.policy.agentDomain))
        #expect(try await world.domains.list(of: user) == [domain])
        #expect(try await world.domains.list(of: other).isEmpty)
        #expect(try await world.domains.system().map(\.name.text) == ["mail.test"])
    }

    @Test(arguments: [
        "", "localhost", "-x.test", "b\u{fc}cher.test", "127.0.0.1", "10.1", "256.1", "1.2.3.4.",
        "example.test.", "a@example.test",
    ])
    func whatIsNotADomainNameIsAnInvalidDomain(name: String) async throws {
        let user = try await world.addUser("ada@example.test")
        await #expect(throws: AccountsError.invalidDomain) { try await add(name, for: user) }
    }

    @Test func aUserAddsANameOnceAndAConfiguredOneNever() async throws {
        let user = try await world.addUser("ada@example.test")
        _ = try await add("one.test", for: user)
        for name in ["mail.test", "One.test"] {
            await #expect(throws: AccountsError.domainAlreadyExists) {
                try await add(name, for: user)
            }
        }
        _ = try await add("two.test", for: user)
        await #expect(throws: AccountsError.domainLimitReached) {
            try await add("three.test", for: user)
        }
    }

    @Test func aClaimDoesNotKeepItsNamesOwnerFromProvingIt() async throws {
        let squatter = try await world.addUser("squatter@example.test")
        let user = try await world.addUser("ada@example.test")
        let claim = try await add("one.test", for: squatter)
        try await verify(try await add("one.test", for: user), of: user)
        // Even with a record of its own, the claim is not verified any more.
        world.resolver.publish(
            text: "postern-verify=\(claim.verifyToken)", at: "postern-verify.one.test")
        let late = try await world.domains.verify(claim.id, of: squatter, by: world.caller)
        #expect(late.verification == .failed && late.hasText)
        try await world.domains.remove(claim.id, of: squatter, by: world.caller)
        await #expect(throws: AccountsError.domainAlreadyExists) {
            try await add("one.test", for: squatter)
        }
    }

    @Test func aDomainWithoutItsRecordBecomesPendingAfterAWeek() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        try await verify(domain, of: user)
        world.resolver.withdrawAll()
        for day in 1...8 {
            #expect(try await world.domains.list(of: user).first?.verification == .verified)
            world.clock.advance(by: .seconds(86_400))
            if day == 3 {
                // Silence of the name servers is not an absence.
                world.resolver.stopAnswering()
                try await world.domains.recheck(at: world.clock.now)
                world.resolver.answerAgain()
                world.clock.advance(by: .seconds(3600))
            }
            try await world.domains.recheck(at: world.clock.now)
        }
        #expect(try await world.domains.list(of: user).first?.verification == .pending)
        let lapse = try #require(try await world.events.last)
        #expect(lapse.kind == .domainLapsed && lapse.actor == .server)
        #expect(lapse.subject == "example.test" && lapse.network == "")
        try await verify(domain, of: user)
    }

    @Test func aDomainWhoseNameserverDoesNotAnswerStaysVerified() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        try await verify(domain, of: user)
        world.resolver.stopAnswering()
        for _ in 1...20 {
            world.clock.advance(by: .seconds(86_400))
            try await world.domains.recheck(at: world.clock.now)
        }
        #expect(try await world.domains.list(of: user).first?.verification == .verified)
    }

    @Test func verificationNeedsTheTXTRecordAndReportsTheMXRecord() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        world.resolver.publish(text: "postern-verify=other", at: "postern-verify.example.test")
        world.resolver.publish(exchanger: "mail.test", of: "example.test")
        let before = try await world.domains.verify(domain.id, of: user, by: world.caller)
        #expect(before.verification == .failed && !before.hasText && before.hasMX)
        #expect(before.records == domain.records(exchanger: AgentWorld.policy.agentDomain))
        world.clock.advance(by: .seconds(5))
        try await verify(domain, of: user)
        let listed = try #require(try await world.domains.list(of: user).first)
        #expect(listed.verification == .verified && listed.hasMX)
        #expect(listed.verified == world.clock.now)
    }

    @Test func anMXRecordOfAnotherExchangerDoesNotCount() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        world.resolver.publish(exchanger: "mx.elsewhere.test", of: "example.test")
        let found = try await world.domains.verify(domain.id, of: user, by: world.caller)
        #expect(!found.hasMX)
    }

    @Test func aVerifiedDomainStaysVerifiedWhenItsRecordDisappears() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        try await verify(domain, of: user)
        world.resolver.withdrawAll()
        let found = try await world.domains.verify(domain.id, of: user, by: world.caller)
        #expect(found.verification == .verified && !found.hasText)
    }

    @Test func aResolverThatDoesNotAnswerChangesNothing() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        world.resolver.stopAnswering()
        await #expect(throws: AccountsError.common(.busy(retryAfter: .seconds(5)))) {
            try await world.domains.verify(domain.id, of: user, by: world.caller)
        }
        #expect(try await world.domains.list(of: user).first?.verification == .pending)
    }

    @Test func aDomainOfAnotherUserIsNotFound() async throws {
        let user = try await world.addUser("ada@example.test")
        let other = try await world.addUser("other@example.test")
        let id = try await add("example.test", for: user).id
        for id in [id, nil] {
            await #expect(throws: AccountsError.notFound) {
                try await world.domains.verify(id, of: other, by: world.caller)
            }
            await #expect(throws: AccountsError.notFound) {
                try await world.domains.remove(id, of: other, by: world.caller)
            }
        }
        #expect(try await world.domains.list(of: user).map(\.id) == [id])
    }

    @Test func aDomainThatIsRemovedDuringItsVerificationIsNotFound() async throws {
        let user = try await world.addUser("ada@example.test")
        let id = try await add("example.test", for: user).id
        world.resolver.meanwhile {
            try await world.domains.remove(id, of: user, by: world.caller)
        }
        await #expect(throws: AccountsError.notFound) {
            try await world.domains.verify(id, of: user, by: world.caller)
        }
    }

    @Test func aDomainWithAMailboxCannotBeRemoved() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        try await verify(domain, of: user)
        let secret = MailboxSecret.authKey([UInt8](repeating: 1, count: 32))
        let mailbox = try await world.mailboxes.create(
            Mailboxes.New(address: "a@example.test", secret: secret, proof: nil),
            as: .user(user), by: world.caller)
        await #expect(throws: AccountsError.domainInUse) {
            try await world.domains.remove(domain.id, of: user, by: world.caller)
        }
        let access = try await world.mailboxes.access(
            to: .id(mailbox.account.id), as: .user(user))
        try await world.mailboxes.delete(access, by: world.caller)
        try await world.domains.remove(domain.id, of: user, by: world.caller)
        #expect(try await world.domains.list(of: user).isEmpty)
    }

    @Test func eventsNameTheDomainAndVerificationIsRecordedOnce() async throws {
        let user = try await world.addUser("ada@example.test")
        let domain = try await add("example.test", for: user)
        _ = try await world.domains.verify(domain.id, of: user, by: world.caller)
        try await verify(domain, of: user)
        try await verify(domain, of: user)
        try await world.domains.remove(domain.id, of: user, by: world.caller)
        let expected = [AuditEvent.Kind.domainAdded, .domainVerified, .domainRemoved].map { kind in
            AuditEvent(kind, by: world.caller, actor: .user(user.id), subject: "example.test")
        }
        #expect(try await Array(world.events.dropFirst()) == expected)
    }
}
