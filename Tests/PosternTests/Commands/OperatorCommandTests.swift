import ArgumentParser
import AuthCore
import AuthStorage
import StrictJSON
import TestPrimitives
import Testing

@testable import postern

/// The commands of the operator: their changes of the database and their audit events.
@Suite struct OperatorCommandTests {
    private let scratch = Scratch()

    init() async throws {
        _ = try await Database.inDirectory(scratch.path).migrate(at: SystemClock.now())
    }

    private func run(_ arguments: String...) async throws {
        var command = try Postern.parseAsRoot(arguments + ["--data", scratch.path])
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    private func look<T>(_ body: (Stores) async throws -> T) async throws -> T {
        let stores = try await Database.inDirectory(scratch.path).open(at: SystemClock.now())
        let found = try await body(stores)
        await stores.close()
        return found
    }

    /// Kinds and subjects of the audit events, the oldest first. All actors must be the operator.
    private func record() async throws -> [String] {
        try await look { try await $0.audit.events(after: nil, limit: 100) }.map { record in
            #expect(record.event.actor == .operator)
            return "\(record.event.kind.rawValue) \(record.event.subject)"
        }
    }

    private func addUser(_ text: String) async throws -> User {
        let email = try #require(Email(parsing: text))
        let user = User(
            id: UserID(random: [UInt8](repeating: 7, count: 16)), email: email,
            password: PasswordHash(encoded: "none"), created: Instant(seconds: 1))
        let event = AuditEvent.byOperator(.userCreated, email)
        #expect(try await look { try await $0.users.insert(user, recording: event) })
        return user
    }

    private func domain(_ name: String) async throws -> HostedDomain? {
        let name = try #require(Domain(parsing: name))
        return try await look { try await $0.domainDirectory.domains(named: name).first }
    }

    @Test func disablingAndEnablingAUserIsAudited() async throws {
        let user = try await addUser("ada@example.test")
        try await run("user", "disable", "ada@example.test")
        let disabled = try await look { try await $0.users.user(id: user.id) }
        #expect(disabled?.state == .disabled && disabled?.credentialVersion == 2)
        // A second time it changes nothing.
        try await run("user", "disable", "ada@example.test")
        try await run("user", "enable", "ada@example.test")
        try await run("user", "list")
        #expect(try await look { try await $0.users.user(id: user.id) }?.state == .active)
        #expect(
            try await record() == [
                "user_created ada@example.test", "user_disabled ada@example.test",
                "user_enabled ada@example.test",
            ])
        await #expect(throws: ExitCode.failure) { try await run("user", "disable", "b@c.test") }
    }

    @Test func aDomainWithoutAnOwnerIsVerifiedAtOnceAndCanBeRemoved() async throws {
        try await run("domain", "add", "Pro.test", "--pro-only")
        let added = try #require(try await domain("pro.test"))
        #expect(added.owner == nil && added.isProOnly && added.verification == .verified)
        try await run("domain", "list")
        await #expect(throws: ExitCode.failure) { try await run("domain", "add", "pro.test") }
        try await run("domain", "remove", "pro.test")
        #expect(try await domain("pro.test") == nil)
        await #expect(throws: ExitCode.failure) { try await run("domain", "remove", "pro.test") }
        #expect(try await record() == ["domain_added pro.test", "domain_removed pro.test"])
    }

    @Test func aDomainWithAnOwnerIsPendingUnlessItIsAddedAsVerified() async throws {
        let user = try await addUser("ada@example.test")
        try await run("domain", "add", "a.test", "--owner", "ada@example.test")
        try await run("domain", "add", "b.test", "--owner", "ada@example.test", "--verified")
        let (pending, verified) = (try await domain("a.test"), try await domain("b.test"))
        #expect(pending?.owner == user.id && pending?.verification == .pending)
        #expect(pending?.verifyToken.isEmpty == false)
        #expect(verified?.owner == user.id && verified?.verification == .verified)
        #expect(verified?.verified != nil)
        try await run("domain", "list")
        try await run("domain", "remove", "a.test")
        await #expect(throws: ExitCode.failure) {
            try await run("domain", "add", "c.test", "--owner", "nobody@example.test")
        }
        #expect(try await domain("c.test") == nil)
    }

    @Test func aDomainWithAccountsIsNotRemoved() async throws {
        try await run("domain", "add", "busy.test")
        let account = Account(
            id: AccountID(random: [UInt8](repeating: 1, count: 16)),
            address: try #require(Address(parsing: "a@busy.test")),
            credential: .password(PasswordHash(encoded: "none")), owner: nil, quota: 1,
            created: Instant(seconds: 1))
        let event = AuditEvent.byOperator(.accountCreated, account.address)
        _ = try await look { try await $0.accounts.insert(account, limit: nil, recording: event) }
        await #expect(throws: ExitCode.failure) { try await run("domain", "remove", "busy.test") }
        #expect(try await domain("busy.test") != nil)
    }

    @Test func theUsageReportedByTheMailStoreIsRecorded() async throws {
        let account = Account(
            id: AccountID(random: [UInt8](repeating: 1, count: 16)),
            address: try #require(Address(parsing: "a@mail.test")),
            credential: .password(PasswordHash(encoded: "none")), owner: nil, quota: 1,
            created: Instant(seconds: 1))
        let event = AuditEvent.byOperator(.accountCreated, account.address)
        _ = try await look { try await $0.accounts.insert(account, limit: nil, recording: event) }
        try await run("account", "usage", "A@mail.test", "1234567")
        #expect(try await look { try await $0.accounts.account(id: account.id) }?.used == 1_234_567)
        await #expect(throws: ExitCode.failure) {
            try await run("account", "usage", "b@mail.test", "1")
        }
        try await run("account", "usage", "a@mail.test")
        await #expect(throws: ExitCode.failure) {
            try await run("account", "usage", "b@mail.test")
        }
        for words in [
            ["a@mail.test", "-1"], ["a@mail.test", "1", "--stdin"], [],
        ] {
            #expect(throws: (any Error).self, "\(words)") {
                _ = try Postern.parseAsRoot(["account", "usage"] + words)
            }
        }
        #expect(try await record() == ["account_created a@mail.test"])
    }

    @Test func aQuotaIsSetAndTheChangeIsAudited() async throws {
        let account = Account(
            id: AccountID(random: [UInt8](repeating: 1, count: 16)),
            address: try #require(Address(parsing: "a@mail.test")),
            credential: .password(PasswordHash(encoded: "none")), owner: nil, quota: 1,
            created: Instant(seconds: 1))
        let event = AuditEvent.byOperator(.accountCreated, account.address)
        _ = try await look { try await $0.accounts.insert(account, limit: nil, recording: event) }
        try await run("account", "quota", "a@mail.test", "2048")
        // A second time it changes nothing.
        try await run("account", "quota", "A@mail.test", "2048")
        #expect(try await look { try await $0.accounts.account(id: account.id) }?.quota == 2048)
        try await run("account", "show", "a@mail.test")
        try await run("account", "show", "a@mail.test", "--json")
        try await run("account", "list", "--json")
        try await run("audit", "follow", "--once", "--json")
        for words in [["quota", "b@mail.test", "1"], ["show", "b@mail.test"]] {
            await #expect(throws: ExitCode.failure, "\(words)") {
                try await run("account", words[0], words[1], words.count > 2 ? words[2] : "--json")
            }
        }
        #expect(
            try await record() == ["account_created a@mail.test", "quota_changed a@mail.test"])
        for bytes in ["", "-1", "1k", "1125899906842625"] {
            #expect(throws: (any Error).self, "\(bytes)") {
                _ = try Postern.parseAsRoot(["account", "quota", "a@mail.test", bytes])
            }
        }
    }

    @Test func domainsOfTheConfigurationCannotBeAddedOrRemoved() async throws {
        for words in [["domain", "add"], ["domain", "remove"]] {
            await #expect(throws: ExitCode.failure) {
                try await run(words[0], words[1], "mail.test")
            }
        }
        #expect(try await record().isEmpty)
    }

    @Test func showingAndExportingTheAuditLogDoesNotChangeIt() async throws {
        _ = try await addUser("ada@example.test")
        try await run("audit", "tail", "-n", "5")
        try await run("audit", "tail", "-n", "0")
        try await run("audit", "export", "--since", "1d")
        #expect(try await record() == ["user_created ada@example.test"])
    }
}
