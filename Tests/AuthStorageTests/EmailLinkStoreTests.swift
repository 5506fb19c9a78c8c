import AuthCore
import Testing

/// The conformance of every engine to ``EmailLinkStore``, and to the rule that what raises the
/// credential version removes the links that set a password.
@Suite(.indexesAreUsed) struct EmailLinkStoreTests {
    private func link(
        _ number: Int, _ purpose: EmailLink.Purpose = .passwordReset, of owner: Int = 1,
        expiry: Int64 = 1000
    ) -> EmailLink {
        EmailLink(
            digest: digest(number), owner: userID(owner), purpose: purpose,
            expiry: Instant(milliseconds: expiry))
    }

    /// A store with two users. The first one has four links.
    private func filled(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        try await fill(store)
        return store
    }

    private func fill(_ store: any EngineStore) async throws {
        for link in [
            link(1), link(2), link(3, .operatorReset), link(4, .emailVerification),
        ] {
            #expect(
                try await store.insert(link, at: 1, recording: event(.resetLinkCreated)))
        }
    }

    private func left(
        _ store: any EngineStore, at now: Int64 = 1, among numbers: ClosedRange<Int> = 1...4
    ) async throws -> [Int] {
        var left: [Int] = []
        for number in numbers
        where try await store.emailLink(digest(number), at: Instant(milliseconds: now)) != nil {
            left.append(number)
        }
        return left
    }

    private func reset(
        _ store: any EngineStore, _ number: Int = 1, of owner: Int = 1, time: Int64 = 1,
        revoking: Bool = false, removing: Bool = false
    ) async throws -> Bool {
        try await store.resetPassword(
            by: digest(number), of: userID(owner), to: hash("new \(number)"),
            revokingTokens: revoking, removingCredentials: removing,
            recording: event(.credentialReset, time: time))
    }

    @Test(arguments: Engine.allCases)
    func aLinkIsFoundWithItsOwnerUntilItExpires(engine: Engine) async throws {
        let store = try await filled(engine)
        let found = try await store.emailLink(digest(3), at: Instant(milliseconds: 999))
        #expect(found?.link == link(3, .operatorReset))
        #expect(found?.owner == (try user(1)))
        #expect(try await left(store, at: 1000) == [])
        #expect(try await store.emailLink(digest(9), at: .epoch) == nil)
    }

    @Test(arguments: Engine.allCases, [false, true])
    func aResetRemovesTheOtherCredentialsOfItsUserOnDemand(
        engine: Engine, removing: Bool
    ) async throws {
        let store = try await filled(engine)
        for owner in 1...2 {
            let bytes = [UInt8](repeating: UInt8(owner), count: 16)
            let passkey = Passkey(
                id: PasskeyID(random: bytes), owner: userID(owner), name: "key",
                credential: bytes, publicKey: "key", signatureCount: 0, isSynced: false,
                created: .epoch)
            #expect(
                try await store.insert(passkey, limit: 20, recording: event(.passkeyAdded))
                    == .inserted)
            let totp = StoredTOTP(
                owner: userID(owner), sealedSecret: bytes, lastStep: 1, created: .epoch)
            #expect(
                try await store.insert(
                    totp, recoveryCodes: [digest(50 + owner)], recording: event(.totpEnabled)))
            let identity = Identity(
                id: IdentityID(random: bytes), owner: userID(owner), provider: "id",
                issuer: "https://id.test", subject: "\(owner)", email: nil, created: .epoch)
            #expect(
                try await store.insert(identity, at: 1, recording: event(.identityLinked))
                    == .inserted)
            let webhook = Webhook(
                id: WebhookID(random: bytes), owner: userID(owner), url: "https://example.com/",
                events: [.emailReceived], sealedSecret: bytes, created: .epoch)
            #expect(try await store.insert(webhook, recording: event(.webhookCreated)))
        }
        #expect(try await reset(store, removing: removing))
        for owner in 1...2 {
            let stays = owner == 2 || !removing
            let factors = try await store.factors(of: userID(owner))
            #expect((factors.totpCreated != nil) == stays)
            #expect(factors.recoveryCodes == (stays ? 1 : 0))
            #expect(factors.passkeys == (stays ? 1 : 0))
            #expect(try await store.identities(of: userID(owner)).isEmpty == !stays)
            #expect((try await store.webhook(of: userID(owner)) != nil) == stays)
        }
    }

    @Test(arguments: Engine.allCases)
    func onlyAnActiveUserWithTheSameCredentialsGetsALink(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await !store.insert(link(5), at: 2, recording: event(.resetLinkCreated)))
        #expect(try await !store.insert(link(6, of: 9), at: 1, recording: nil))
        #expect(try await store.setState(of: userID(2), to: .disabled))
        #expect(try await !store.insert(link(7, of: 2), at: 2, recording: nil))
        #expect(try await left(store, among: 5...7) == [])
        let kinds = try await store.events(after: nil, limit: 100).map(\.event.kind)
        #expect(kinds.filter { $0 == .resetLinkCreated }.count == 4)
    }

    @Test(arguments: Engine.allCases)
    func aResetReplacesThePasswordAndEndsEverythingElse(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await store.insert(session(1)))
        #expect(try await store.insert(session(2, of: 2)))
        #expect(try await store.insert(token(1)))
        #expect(try await reset(store, time: 77))
        let user = try #require(try await store.user(id: userID(1)))
        #expect(user.password == hash("new 1"))
        #expect(user.credentialVersion == 2)
        #expect(user.emailVerified == Instant(milliseconds: 77))
        #expect(try await store.holder(of: sessionID(1)) == nil)
        #expect(try await store.holder(of: sessionID(2)) != nil)
        // The other user's links and the token stay, as does the link that verifies the email.
        #expect(try await left(store) == [4])
        #expect(try await store.holder(digest: token(1).digest)?.token.revoked == nil)
        let events = try await store.events(after: nil, limit: 100)
        #expect(events.last?.event == event(.credentialReset, time: 77))
    }

    @Test(arguments: Engine.allCases)
    func aResetRevokesTheTokensThatItShall(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await store.insert(token(1)))
        #expect(try await reset(store, revoking: true))
        #expect(
            try await store.events(after: nil, limit: 100).suffix(2).map(\.event.kind)
                == [.tokenRevoked, .credentialReset])
    }

    @Test(arguments: Engine.allCases)
    func theOperatorsLinkDoesNotVerifyTheEmail(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await reset(store, 3))
        #expect(try await store.user(id: userID(1))?.emailVerified == nil)
        #expect(try await left(store) == [4])
    }

    @Test(arguments: Engine.allCases)
    func aVerifiedEmailKeepsItsTime(engine: Engine) async throws {
        let store = try await engine.open()
        let verified = User(
            id: userID(1), email: try email("a@example.test"), password: nil, created: .epoch,
            emailVerified: Instant(milliseconds: 5))
        #expect(try await store.insert(verified))
        #expect(try await store.insert(link(1), at: 1, recording: nil))
        #expect(try await reset(store, time: 77))
        #expect(try await store.user(id: userID(1))?.emailVerified == Instant(milliseconds: 5))
    }

    @Test(arguments: Engine.allCases)
    func aLinkIsForItsPurposeItsOwnerAndItsTime(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await !reset(store, 1, of: 2))
        #expect(try await !reset(store, 2, time: 1000))
        #expect(try await !reset(store, 9))
        #expect(
            try await !store.verifyEmail(
                by: digest(9), of: userID(1), recording: event(.emailVerified)))
        #expect(
            try await !store.verifyEmail(
                by: digest(4), of: userID(2), recording: event(.emailVerified)))
        #expect(
            try await !store.verifyEmail(
                by: digest(4), of: userID(1), recording: event(.emailVerified, time: 1000)))
        #expect(try await !reset(store, 4))
        #expect(
            try await !store.verifyEmail(
                by: digest(1), of: userID(1), recording: event(.emailVerified)))
        #expect(try await store.user(id: userID(1)) == user(1))
        #expect(try await store.events(after: nil, limit: 100).count == 6)
    }

    /// On two servers.
    @Test(arguments: Engine.shared)
    func ofManyUsesOfOneLinkOneCounts(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        #expect(try await stores[0].insert(user(1)))
        try await fill(stores[0])
        let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                // Two links: using one of them removes the other one.
                group.addTask { try await reset(stores[number % 2], 1 + number / 2 % 2) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wins == 1)
        #expect(try await stores[1].user(id: userID(1))?.credentialVersion == 2)
        let verified = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await stores[number % 2].verifyEmail(
                        by: digest(4), of: userID(1), recording: event(.emailVerified))
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(verified == 1)
        let kinds = try await stores[0].events(after: nil, limit: 100).map(\.event.kind)
        #expect(kinds.filter { $0 == .credentialReset }.count == 1)
        #expect(kinds.filter { $0 == .emailVerified }.count == 1)
    }

    @Test(arguments: Engine.allCases)
    func aVerificationRemovesTheOthers(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await store.insert(link(5, .emailVerification), at: 1, recording: nil))
        #expect(
            try await store.verifyEmail(
                by: digest(4), of: userID(1), recording: event(.emailVerified, time: 9)))
        #expect(try await store.user(id: userID(1))?.emailVerified == Instant(milliseconds: 9))
        #expect(try await left(store, among: 1...5) == [1, 2, 3])
    }

    @Test(arguments: Engine.allCases)
    func whatRaisesTheCredentialVersionRemovesTheLinksThatSetAPassword(
        engine: Engine
    ) async throws {
        let store = try await filled(engine)
        #expect(try await store.endSessions(of: userID(1), at: 1))
        #expect(try await left(store) == [4])
        #expect(try await store.insert(link(5), at: 2, recording: nil))
        #expect(try await store.insert(link(6, of: 2), at: 1, recording: nil))
        #expect(try await store.replacePassword(of: userID(1), at: 2, with: hash("n")))
        #expect(try await left(store, among: 4...6) == [4, 6])
        #expect(try await store.insert(link(7), at: 3, recording: nil))
        #expect(try await store.setState(of: userID(1), to: .disabled))
        #expect(try await left(store, among: 4...7) == [4, 6])
        #expect(try await !reset(store, 7))
        #expect(
            try await !store.verifyEmail(
                by: digest(4), of: userID(1), recording: event(.emailVerified)))
    }

    @Test(arguments: Engine.allCases)
    func expiredLinksAreSweptALimitedNumberAtATime(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await store.insert(link(5, expiry: 2000), at: 1, recording: nil))
        let past = Instant(milliseconds: 1001)
        #expect(try await store.sweepEmailLinks(before: Instant(milliseconds: 1000), limit: 9) == 0)
        #expect(try await store.sweepEmailLinks(before: past, limit: 3) == 3)
        #expect(try await store.sweepEmailLinks(before: past, limit: 3) == 1)
        #expect(try await left(store, among: 1...5) == [5])
    }
}
