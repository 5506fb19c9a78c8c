import AuthCore
import AuthStorage
import Cryptography
import Fetching
import Logging
import Testing

@testable import Configuration
@testable import Provisioning
@testable import postern

@Suite struct BackgroundTasksTests {
    private func tasks(
        _ stores: Stores, retention: Duration = .zero, delivery: EventDelivery? = nil,
        at now: Instant
    ) throws -> BackgroundTasks {
        let clock: @Sendable () -> Instant = { now }
        let pool = Pools(cores: 1).signing
        let sealer = try KeySealer(
            masterSecret: [UInt8](repeating: 1, count: 32), random: RandomBytes.make)
        let events = SecurityEvents { _, _ in }
        let logger = Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }
        let domains = Domains(
            settings: .defaults, policy: AddressPolicy(MailSection()), domains: stores.domains,
            resolver: SystemResolver(
                dns: DNSClient(servers: [], timeout: .seconds(1)), report: { _ in }),
            random: RandomBytes.make)
        return BackgroundTasks(
            ledger: stores.challenges, sessions: stores.userSessions, links: stores.emailLinks,
            signingKeys: SigningKeyTasks(
                store: stores.signingKeys,
                keys: KeyRing(
                    store: stores.signingKeys, sealer: sealer, pool: pool,
                    random: RandomBytes.make,
                    clock: clock),
                grace: { _ in .zero }, events: events, logger: logger, clock: clock),
            isShared: true,
            domains: { domains },
            audit: stores.audit, feed: stores.accountFeed, retention: retention,
            delivery: delivery,
            webhooks: WebhookDelivery(
                stores.webhookQueue, open: { secret, _ in secret },
                send: { _ in .init(status: 200) }, count: { _, _ in }, report: { _ in },
                random: RandomBytes.make, clock: clock),
            certificates: nil, exclusively: stores.exclusively,
            events: events, logger: logger, clock: clock)
    }

    @Test func aSweepRemovesExpiredSessionsAndNoOthers() async throws {
        let stores = try Database.openInMemory()
        let user = User(
            id: UserID(random: [UInt8](repeating: 1, count: 16)),
            email: try #require(Email(parsing: "a@example.test")), password: nil,
            created: Instant(seconds: 0))
        #expect(
            try await stores.users.insert(
                user,
                recording: AuditEvent(
                    .userCreated, time: user.created, actor: .operator, subject: "a")))
        func session(_ number: UInt8, expiry: Int64) -> UserSession {
            UserSession(
                id: UserSessionID(random: [UInt8](repeating: number, count: 16)), owner: user.id,
                method: .password, client: "", agent: "", created: user.created,
                lastUsed: user.created, expiry: Instant(seconds: expiry),
                authenticated: user.created)
        }
        let (old, young) = (session(1, expiry: 10), session(2, expiry: 30))
        for each in [old, young] {
            #expect(
                try await stores.userSessions.insert(
                    each, at: 1, hasSecondFactor: false, limit: 9, recording: nil) == .inserted)
        }
        let later = Instant(seconds: 20).advanced(by: BackgroundTasks.clockDifference)
        try await tasks(stores, at: later).sweep()
        #expect(try await stores.userSessions.holder(of: old.id) == nil)
        #expect(try await stores.userSessions.holder(of: young.id) != nil)
    }

    @Test func aSweepRemovesExpiredLinksAndNoOthers() async throws {
        let stores = try Database.openInMemory()
        let user = User(
            id: UserID(random: .init(repeating: 1, count: 16)),
            email: try #require(Email(parsing: "a@b.test")), password: nil,
            created: Instant(seconds: 0))
        let event = AuditEvent(.userCreated, time: user.created, actor: .operator, subject: "a")
        #expect(try await stores.users.insert(user, recording: event))
        func link(_ number: UInt8, expiry: Int64) -> EmailLink {
            EmailLink(
                digest: APIKeyDigest(bytes: .init(repeating: number, count: 32)), owner: user.id,
                purpose: .passwordReset, expiry: Instant(seconds: expiry))
        }
        let (old, young) = (link(1, expiry: 10), link(2, expiry: 30))
        for each in [old, young] {
            #expect(try await stores.emailLinks.insert(each, at: 1, recording: nil))
        }
        let later = Instant(seconds: 20).advanced(by: BackgroundTasks.clockDifference)
        try await tasks(stores, at: later).sweep()
        let past = Instant(seconds: 0)
        #expect(try await stores.emailLinks.emailLink(old.digest, at: past) == nil)
        #expect(try await stores.emailLinks.emailLink(young.digest, at: past) != nil)
    }

    @Test func aSweepRemovesExpiredChallengesAndNoOthers() async throws {
        let stores = try Database.openInMemory()
        for number in 0..<2500 {
            _ = try await stores.challenges.spend("old \(number)", expiry: Instant(seconds: 10))
        }
        _ = try await stores.challenges.spend("young", expiry: Instant(seconds: 30))
        let later = Instant(seconds: 20).advanced(by: BackgroundTasks.clockDifference)
        try await tasks(stores, at: later).sweep()
        #expect(try await stores.challenges.sweep(before: Instant(seconds: 20), limit: 10) == 0)
        #expect(try await stores.challenges.sweep(before: Instant(seconds: 31), limit: 10) == 1)
    }

    @Test func aSweepKeepsChallengesThatASlowerClockStillAccepts() async throws {
        let stores = try Database.openInMemory()
        _ = try await stores.challenges.spend("spent", expiry: Instant(seconds: 100))
        // It has expired by this clock, but not by a clock that is 59 s behind.
        try await tasks(stores, at: Instant(seconds: 158)).sweep()
        #expect(try await stores.challenges.spend("spent", expiry: Instant(seconds: 100)) == false)
    }

    @Test func eventsOlderThanTheRetentionAreRemoved() async throws {
        let stores = try Database.openInMemory()
        for second in 1...2500 { try await stores.audit.append(event(at: Int64(second))) }
        try await tasks(stores, retention: .seconds(100), at: Instant(seconds: 2550)).trimEvents()
        let kept = try await stores.audit.events(after: nil, limit: 5000)
        #expect(kept.map(\.event.time.seconds) == Array(2450...2500))
    }

    @Test func withoutARetentionAllEventsAreKept() async throws {
        let stores = try Database.openInMemory()
        try await stores.audit.append(event(at: 1))
        try await tasks(stores, at: Instant(seconds: 4_000_000_000)).trimEvents()
        #expect(try await stores.audit.events(after: nil, limit: 10).count == 1)
    }

    @Test func accountEventsThatAReceiverIsStillToGetAreKept() async throws {
        let stores = try Database.openInMemory()
        for second in 1...2 {
            let address = try #require(Address(parsing: "a\(second)@mail.test"))
            let account = Account(
                id: AccountID(random: .init(repeating: UInt8(second), count: 16)),
                address: address, credential: .password(PasswordHash(encoded: "none")), quota: 1,
                created: Instant(seconds: Int64(second)))
            let event = AuditEvent(
                .accountCreated, time: account.created, actor: .operator, subject: "a")
            _ = try await stores.accounts.insert(account, limit: nil, recording: event)
        }
        #expect(try await stores.deliveries.noteAccepted(1, at: Instant(seconds: 3)))
        let later = Instant(seconds: 1000)
        let delivery = EventDelivery(
            stores.deliveries, settings: .init(), send: { _, _ in .accepted }, report: { _ in },
            clock: { later })
        func trim(_ delivery: EventDelivery?) async throws -> [Int64] {
            try await tasks(stores, retention: .seconds(100), delivery: delivery, at: later)
                .trimEvents()
            return try await stores.accountFeed.accountEvents(after: 0, limit: 9).map(\.number)
        }
        #expect(try await trim(delivery) == [2])
        #expect(try await trim(nil).isEmpty)
    }

    private func event(at second: Int64) -> AuditEvent {
        AuditEvent(.loginSucceeded, time: Instant(seconds: second), actor: .anonymous, subject: "b")
    }
}
