import AuthCore
import TestSupport
import Testing

struct MailSubjectTests {
    private func capability(
        on domain: String, _ subject: MailSubject
    ) async throws -> Agents.IssuedCapability {
        let world = try AgentWorld(mailSubject: subject)
        let key = try #require(APIKey(presented: "pst_of-an-agent"))
        let account = Account(
            id: AccountID(random: world.random.make(16)),
            address: try #require(Address(parsing: "alice@\(domain)")),
            credential: .apiKey(key.digest), quota: 1, created: world.clock.now)
        let event = AuditEvent(.accountCreated, by: world.caller, actor: .operator, subject: "a")
        _ = try await world.stores.accounts.insert(account, limit: nil, recording: event)
        let opened = try await world.logIn(key)
        let session = try await world.agents.authenticate(
            session: opened.token, at: world.clock.now)
        return try await world.agents.issueCapability(for: session, by: world.caller)
    }

    /// `alice` on two domains would be one mailbox at the mail store.
    @Test func withLocalPartsOnlyTheFirstDomainGetsCapabilities() async throws {
        _ = try await capability(on: "mail.test", .localPart)
        await #expect(
            throws: AgentError.subjectNotUnique(first: "mail.test")
        ) {
            try await capability(on: "old.test", .localPart)
        }
        for subject in [MailSubject.address, .accountID] {
            _ = try await capability(on: "old.test", subject)
        }
    }
}
