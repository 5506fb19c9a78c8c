import AuthCore
import Testing

/// The conformance of every engine to ``SecondFactorStore``, and to the rule of
/// ``UserSessionStore`` about second factors.
@Suite(.indexesAreUsed) struct SecondFactorStoreTests {
    private let now = Instant(milliseconds: 1_700_000_000_000)
    private let codes = (1...10).map { digest($0) }

    private func totp(_ owner: Int = 1, step: Int64 = 100) -> StoredTOTP {
        StoredTOTP(
            owner: userID(owner), sealedSecret: [0, 1, UInt8(owner)], lastStep: step, created: now)
    }

    /// A store with two users, the first of them with one-time codes.
    private func filled(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        #expect(
            try await store.insert(totp(), recoveryCodes: codes, recording: event(.totpEnabled)))
        return store
    }

    private func allowed(_ guess: CodeGuess) -> Bool {
        if case .allowed = guess { true } else { false }
    }

    @Test(arguments: Engine.allCases)
    func aUserHasOneTimeCodesOnce(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(
            try await !store.insert(
                totp(step: 5), recoveryCodes: [digest(99)], recording: event(.totpEnabled)))
        #expect(
            try await store.factors(of: userID(1))
                == Factors(totpCreated: now, recoveryCodes: 10, passkeys: 0))
        #expect(
            try await store.factors(of: userID(2))
                == Factors(totpCreated: nil, recoveryCodes: 0, passkeys: 0))
        #expect(try await store.beginGuess(of: userID(1), at: now) == .allowed(totp()))
        #expect(try await store.beginGuess(of: userID(2), at: now) == .missing)
        #expect(try await store.removeTOTP(of: userID(1), recording: event(.totpDisabled)))
        #expect(try await !store.removeTOTP(of: userID(1), recording: event(.totpDisabled)))
        #expect(
            try await store.factors(of: userID(1))
                == Factors(totpCreated: nil, recoveryCodes: 0, passkeys: 0))
        let kinds = try await store.events(after: nil, limit: 100).map(\.event.kind)
        #expect(kinds.filter { $0 == .totpEnabled }.count == 1)
        #expect(kinds.filter { $0 == .totpDisabled }.count == 1)
    }

    @Test(arguments: Engine.allCases)
    func ofManyUsesOfOneCodeOneCounts(engine: Engine) async throws {
        let store = try await filled(engine)
        let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask { [totp = totp()] in try await store.acceptCode(at: 101, of: totp) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wins == 1)
        for step: Int64 in [99, 100, 101] {
            #expect(try await !store.acceptCode(at: step, of: totp()))
        }
        #expect(try await store.acceptCode(at: 102, of: totp()))
        #expect(try await !store.acceptCode(at: 103, of: totp(2)))
    }

    /// 15 at once, then one each 96 minutes: never more than 30 in 24 hours.
    @Test(arguments: Engine.allCases)
    func wrongCodesAreLimited(engine: Engine) async throws {
        let store = try await filled(engine)
        var times: [Int64] = []
        for minute: Int64 in 0..<(3 * 24 * 60) where minute < 20 || minute % 12 == 0 {
            let time = now.advanced(by: .seconds(minute * 60))
            if allowed(try await store.beginGuess(of: userID(1), at: time)) { times.append(minute) }
        }
        #expect(times.prefix(16) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 96])
        for start in times {
            #expect(times.filter { (start..<(start + 24 * 60)).contains($0) }.count <= 30)
        }
        #expect(times.count >= 15 + 3 * 14)
    }

    @Test(arguments: Engine.allCases)
    func guessesAtOnceAreLimitedAndARightCodeIsNoGuess(engine: Engine) async throws {
        let store = try await filled(engine)
        let now = now
        let count = try await withThrowingTaskGroup(of: CodeGuess.self) { group in
            for _ in 0..<25 {
                group.addTask { try await store.beginGuess(of: userID(1), at: now) }
            }
            return try await group.reduce(into: 0) { $0 += allowed($1) ? 1 : 0 }
        }
        #expect(count == 15)
        guard case .limited(let next) = try await store.beginGuess(of: userID(1), at: now) else {
            Issue.record("another guess is allowed")
            return
        }
        #expect(next == now.advanced(by: .seconds(5_760)))
        #expect(allowed(try await store.beginGuess(of: userID(1), at: next)))
        // The guess was right, so another one is allowed at the same time.
        #expect(try await store.acceptCode(at: 101, of: totp()))
        #expect(allowed(try await store.beginGuess(of: userID(1), at: next)))
        #expect(!allowed(try await store.beginGuess(of: userID(1), at: next)))
    }

    /// Codes are turned off and on while a login with an earlier code is checked.
    @Test(arguments: Engine.allCases)
    func aCodeOfAnEarlierSecretDoesNotCount(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await store.removeTOTP(of: userID(1), recording: event(.totpDisabled)))
        let new = StoredTOTP(
            owner: userID(1), sealedSecret: [7], lastStep: 100,
            created: now.advanced(by: .milliseconds(1)))
        #expect(try await store.insert(new, recoveryCodes: [], recording: event(.totpEnabled)))
        #expect(try await !store.acceptCode(at: 101, of: totp()))
        #expect(try await store.acceptCode(at: 101, of: new))
    }

    /// A wrong code at a time far ahead does not keep the user out until then.
    @Test(arguments: Engine.allCases)
    func aWrongClockKeepsNobodyOut(engine: Engine) async throws {
        let store = try await filled(engine)
        let later = Instant(milliseconds: 253_000_000_000_000)
        #expect(allowed(try await store.beginGuess(of: userID(1), at: later)))
        // Two days ahead count, which are over after a day and 96 minutes.
        let next = now.advanced(by: .seconds(16 * 5_760))
        #expect(try await store.beginGuess(of: userID(1), at: now) == .limited(until: next))
        let nearly = now.advanced(by: .seconds(16 * 5_760 - 1))
        #expect(try await store.beginGuess(of: userID(1), at: nearly) == .limited(until: next))
        #expect(allowed(try await store.beginGuess(of: userID(1), at: next)))
        #expect(!allowed(try await store.beginGuess(of: userID(1), at: next)))
    }

    /// What servers whose clocks differ by a day have counted is not forgotten.
    @Test(arguments: Engine.allCases)
    func clocksThatDifferAllowNoFurtherGuesses(engine: Engine) async throws {
        let store = try await filled(engine)
        let ahead = now.advanced(by: .seconds(25 * 3600))
        var count = 0
        for number in 0..<100
        where allowed(
            try await store.beginGuess(of: userID(1), at: number % 2 == 0 ? ahead : now))
        {
            count += 1
        }
        #expect(count == 15)
    }

    @Test(arguments: Engine.allCases)
    func aRecoveryCodeCountsOnce(engine: Engine) async throws {
        let store = try await filled(engine)
        let spent = event(.recoveryCodeUsed)
        #expect(try await !store.spendRecoveryCode(digest(1), of: userID(2), recording: spent))
        #expect(try await !store.spendRecoveryCode(digest(11), of: userID(1), recording: spent))
        let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await store.spendRecoveryCode(
                        digest(1), of: userID(1), recording: event(.recoveryCodeUsed))
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wins == 1)
        #expect(try await store.factors(of: userID(1)).recoveryCodes == 9)
        let new = (21...30).map { digest($0) }
        let replaced = event(.recoveryCodesReplaced)
        #expect(
            try await store.replaceRecoveryCodes(of: userID(1), by: new, recording: replaced))
        #expect(try await store.factors(of: userID(1)).recoveryCodes == 10)
        #expect(try await !store.spendRecoveryCode(digest(2), of: userID(1), recording: spent))
        #expect(try await store.spendRecoveryCode(digest(21), of: userID(1), recording: spent))
        #expect(
            try await !store.replaceRecoveryCodes(of: userID(2), by: new, recording: replaced))
    }

    @Test(arguments: Engine.allCases)
    func noSessionOpensWithoutTheSecondFactor(engine: Engine) async throws {
        let store = try await filled(engine)
        func insert(_ number: Int, of owner: Int, _ hasSecondFactor: Bool, event: AuditEvent?)
            async throws -> UserSessionInsertion
        {
            try await store.insert(
                session(number, of: owner), at: 1, hasSecondFactor: hasSecondFactor, limit: 100,
                recording: event)
        }
        for event in [nil, event(.loginSucceeded)] {
            let base = event == nil ? 0 : 10
            #expect(try await insert(base + 1, of: 1, false, event: event) == .secondFactorRequired)
            #expect(try await insert(base + 2, of: 1, true, event: event) == .inserted)
            #expect(try await insert(base + 3, of: 2, false, event: event) == .inserted)
        }
        #expect(try await store.sessions(of: userID(1), at: .epoch).count == 2)
        #expect(
            try await store.insert(
                session(30, of: 1), at: 7, hasSecondFactor: true, limit: 100, recording: nil)
                == .rejected)
    }

    @Test(arguments: Engine.allCases)
    func theSecretIsEncryptedAnewWithTheKeys(engine: Engine) async throws {
        let store = try await filled(engine)
        _ = try await store.reseal(
            recording: event(.keysResealed),
            secrets: { secret, sealed in sealed + [secret == .totp(userID(1)) ? 8 : 9] },
            { $0.sealed })
        guard case .allowed(let found) = try await store.beginGuess(of: userID(1), at: now) else {
            Issue.record("there are no codes")
            return
        }
        #expect(found.sealedSecret == totp().sealedSecret + [8])
    }
}
