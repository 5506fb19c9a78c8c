import AuthCore
import AuthStorage
import Testing

/// What every engine guarantees about domains.
@Suite(.indexesAreUsed) struct DomainStoreTests {
    private func withUsers(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        return store
    }

    private func insert(
        _ domain: HostedDomain, limit: Int?, in store: any EngineStore
    ) async throws -> DomainInsertion {
        try await store.insert(domain, limit: limit, recording: event())
    }

    @Test(arguments: Engine.allCases)
    func everyFieldIsStoredAndRead(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let full = HostedDomain(
            id: domainID(1), name: try domainName("x.y.test"), owner: userID(1), isProOnly: true,
            verification: .failed, verifyToken: "prove", verified: Instant(milliseconds: -1),
            hasMX: true, created: Instant(milliseconds: .max))
        #expect(try await store.insert(full) == .inserted)
        let mine = try domain(2, of: nil)
        #expect(try await store.insert(mine) == .inserted)
        #expect(try await store.domain(named: full.name) == nil)
        #expect(try await store.domains(named: full.name) == [full])
        #expect(try await store.domain(named: mine.name) == mine)
        #expect(try await store.domain(id: full.id, of: userID(1)) == full)
        #expect(try await store.domain(named: domainName("y.test")) == nil)
    }

    @Test(arguments: Engine.allCases)
    func onlyTheOwnerFindsADomainByID(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1)) == .inserted)
        #expect(try await store.insert(domain(2, of: nil)) == .inserted)
        #expect(try await store.domain(id: domainID(1), of: userID(2)) == nil)
        #expect(try await store.domain(id: domainID(2), of: userID(1)) == nil)
        #expect(try await store.domain(id: domainID(3), of: userID(1)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func anOwnerHasANameOnceAndOthersMayClaimItToo(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1, "same.test")) == .inserted)
        #expect(try await store.insert(domain(2, "same.test")) == .alreadyExists)
        #expect(try await store.insert(domain(1, "other.test", of: 2)) == .alreadyExists)
        #expect(try await store.insert(domain(2, "same.test", of: 2)) == .inserted)
        #expect(try await store.domain(named: domainName("same.test")) == nil)
        #expect(
            try await store.domains(named: domainName("same.test")).map(\.id)
                == [domainID(1), domainID(2)])
        // A claim does not keep the operator out.
        #expect(try await store.insert(domain(3, "same.test", of: nil)) == .inserted)
        #expect(try await store.domain(named: domainName("same.test"))?.id == domainID(3))
        #expect(
            try await store.domains(named: domainName("same.test")).map(\.id)
                == [domainID(3), domainID(1), domainID(2)])
    }

    @Test(arguments: Engine.allCases)
    func aNameIsVerifiedForOneOwnerOnly(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...2 {
            #expect(
                try await store.insert(domain(number, "same.test", of: number)) == .inserted)
        }
        let verified = try await winners(of: 20) { number in
            try await store.setVerification(
                of: domainID(1 + number % 2), to: .verified, at: 5) == .verified
        }
        #expect(verified == 10)
        let holder = try #require(try await store.domain(named: domainName("same.test")))
        let other = holder.id == domainID(1) ? 2 : 1
        let lost = try await store.domain(id: domainID(other), of: userID(other))
        #expect(lost?.verification == .failed && lost?.verified == nil)
        for owner in [1, 2, nil] {
            #expect(
                try await store.insert(domain(3, "same.test", of: owner)) == .alreadyExists)
        }
        // The other owner's claim can be removed, whatever accounts there are.
        #expect(try await store.insert(account(1, "a@same.test", owner: holder.owner)))
        #expect(try await store.removeDomain(domainID(other), of: userID(other)) == .removed)
        #expect(try await store.removeDomain(holder.id, of: holder.owner) == .inUse)
    }

    // MARK: Looking up again

    private let day: Int64 = 86_400_000

    private func check(
        _ store: any EngineStore, _ result: DomainCheck, day number: Int64
    ) async throws -> HostedDomain? {
        try await store.noteCheck(
            of: domainID(1), result, at: Instant(milliseconds: number * day),
            recording: event(.domainLapsed))
        return try await store.domain(id: domainID(1), of: userID(1))
    }

    private func isDue(_ store: any EngineStore, at milliseconds: Int64) async throws -> Bool {
        try await !store.domainsToCheck(at: Instant(milliseconds: milliseconds), limit: 9).isEmpty
    }

    @Test(arguments: Engine.allCases)
    func aVerifiedDomainIsDueDaily(engine: Engine) async throws {
        let store = try await withUsers(engine)
        // Of the operator, or vouched for by the operator: never due.
        #expect(try await store.insert(domain(2, of: nil)) == .inserted)
        #expect(try await store.insert(domain(3, isVerified: true)) == .inserted)
        #expect(try await store.insert(domain(1)) == .inserted)
        #expect(try await !isDue(store, at: .max))
        _ = try await store.setVerification(of: domainID(1), to: .verified, at: 0)
        #expect(try await !isDue(store, at: day - 1))
        #expect(try await isDue(store, at: day))
        #expect(try await store.domainsToCheck(at: Instant(milliseconds: .max), limit: 0).isEmpty)
        #expect(try await check(store, .found(hasMX: true), day: 1)?.hasMX == true)
        #expect(try await !isDue(store, at: 2 * day - 1))
        #expect(try await isDue(store, at: 2 * day))
        // Without an answer it is due again after an hour.
        #expect(try await check(store, .unknown, day: 2)?.verification == .verified)
        #expect(try await !isDue(store, at: 2 * day + 3_599_999))
        #expect(try await isDue(store, at: 2 * day + 3_600_000))
    }

    @Test(arguments: Engine.allCases)
    func aDomainLapsesAfterSevenDaysWithoutItsRecord(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1)) == .inserted)
        _ = try await store.setVerification(of: domainID(1), to: .verified, at: 0)
        for number in Int64(1)...7 {
            #expect(
                try await check(store, .missing, day: number)?.verification == .verified)
        }
        // Found once: seven more days.
        _ = try await check(store, .found(hasMX: false), day: 7)
        for number in Int64(8)...14 {
            _ = try await check(store, .unknown, day: number)
            #expect(
                try await check(store, .missing, day: number)?.verification == .verified)
        }
        let recorded = try await store.subjects.count
        let lapsed = try await check(store, .missing, day: 15)
        #expect(lapsed?.verification == .pending && lapsed?.verified == nil)
        #expect(try await store.subjects.count == recorded + 1)
        #expect(try await !isDue(store, at: .max))
        // No account is made on it, its own stay, and another user may prove it.
        let made = try await store.insert(
            account(1, "a@domain1.test"), on: domainID(1), limit: nil, recording: event())
        #expect(made == .domainGone)
        #expect(try await store.insert(domain(2, "domain1.test", of: 2)) == .inserted)
        #expect(
            try await store.setVerification(of: domainID(2), to: .verified, at: 1) == .verified)
    }

    @Test(arguments: Engine.allCases)
    func aCheckByTheOwnerThatFindsTheRecordEndsTheGracePeriod(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1)) == .inserted)
        _ = try await store.setVerification(of: domainID(1), to: .verified, at: 0)
        _ = try await check(store, .missing, day: 1)
        _ = try await store.setVerification(of: domainID(1), to: .failed, at: 2)
        _ = try await store.setVerification(of: domainID(1), to: .verified, at: 3)
        #expect(try await check(store, .missing, day: 9)?.verification == .verified)
    }

    @Test(arguments: Engine.allCases)
    func anOwnerCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...2 {
            #expect(try await insert(domain(number), limit: 2, in: store) == .inserted)
        }
        #expect(try await insert(domain(3), limit: 2, in: store) == .limitReached)
        // The limit is checked before the name.
        #expect(try await insert(domain(1), limit: 2, in: store) == .limitReached)
        #expect(try await insert(domain(3, of: 2), limit: 2, in: store) == .inserted)
        #expect(try await insert(domain(4, of: nil), limit: 0, in: store) == .inserted)
        #expect(try await insert(domain(5), limit: nil, in: store) == .inserted)
        for limit in [0, -1, .min] {
            #expect(try await insert(domain(6, of: 2), limit: limit, in: store) == .limitReached)
        }
    }

    @Test(arguments: Engine.allCases)
    func concurrentInsertsCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let won = try await winners(of: 50) { number in
            try await insert(domain(number), limit: 3, in: store) == .inserted
        }
        #expect(won == 3)
        #expect(try await store.holdings(of: userID(1)).domains == 3)
    }

    @Test(arguments: Engine.allCases)
    func aDomainOfAnUnknownOwnerIsAnError(engine: Engine) async throws {
        let store = try await withUsers(engine)
        await #expect(throws: StorageError.unknownOwner) {
            try await store.insert(domain(1, of: 3))
        }
        #expect(try await store.domains(named: domainName("domain1.test")).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func domainsAreListedInOrderOfCreation(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let all = try [domain(3, created: 5), domain(1, created: 9), domain(2, created: 5)]
        for one in all { #expect(try await store.insert(one) == .inserted) }
        let system = try [domain(5, of: nil, created: 2), domain(4, of: nil, created: 1)]
        for one in system { #expect(try await store.insert(one) == .inserted) }
        #expect(try await store.domains(of: userID(1)) == [all[2], all[0], all[1]])
        #expect(try await store.domains(of: nil) == [system[1], system[0]])
        #expect(try await store.domains(of: userID(2)).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func theResultOfACheckIsStored(engine: Engine) async throws {
        let store = try await withUsers(engine)
        var one = try domain(1)
        #expect(try await store.insert(one) == .inserted)
        func look(
            _ verification: HostedDomain.Verification, _ hasMX: Bool, _ now: Int64
        ) async throws -> HostedDomain? {
            if one.verification != .verified { one.verification = verification }
            #expect(
                try await store.setVerification(
                    of: one.id, to: verification, hasMX: hasMX, at: now) == one.verification)
            one.hasMX = hasMX
            return try await store.domain(id: one.id, of: userID(1))
        }
        #expect(try await look(.failed, true, 10) == one)
        var found = try await look(.verified, false, 20)
        one.verified = Instant(milliseconds: 20)
        #expect(found == one)
        // A domain that stays verified keeps the time of its first verification.
        #expect(try await look(.verified, true, 30) == one)
        // Accounts may be on it, so a check that began earlier does not undo the verification.
        found = try await look(.failed, false, 40)
        #expect(one.verification == .verified && found == one)
        #expect(
            try await store.setVerification(of: domainID(2), to: .verified, at: 1) == nil)
    }

    @Test(arguments: Engine.allCases)
    func becomingVerifiedIsRecordedOnce(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1)) == .inserted)
        let recorded = try await store.subjects.count
        let looked = try await winners(of: 20) { number in
            try await store.setVerification(
                of: domainID(1), to: .verified, at: Int64(number)) == .verified
        }
        #expect(looked == 20)
        #expect(try await store.subjects.count == recorded + 1)
        #expect(
            try await store.setVerification(of: domainID(1), to: .pending, at: 50) == .verified)
        #expect(try await store.subjects.count == recorded + 1)
    }

    @Test(arguments: Engine.allCases)
    func onlyItsOwnerRemovesADomain(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1)) == .inserted)
        #expect(try await store.insert(domain(2, of: nil)) == .inserted)
        #expect(try await store.removeDomain(domainID(1), of: userID(2)) == .absent)
        #expect(try await store.removeDomain(domainID(1), of: nil) == .absent)
        #expect(try await store.removeDomain(domainID(2), of: userID(1)) == .absent)
        #expect(try await store.removeDomain(domainID(3), of: userID(1)) == .absent)
        #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .removed)
        #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .absent)
        #expect(try await store.removeDomain(domainID(2), of: nil) == .removed)
        #expect(try await store.insert(domain(3, "domain1.test", of: 2)) == .inserted)
    }

    @Test(arguments: Engine.allCases)
    func noAccountIsInsertedOnARemovedDomain(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1, "in.test", isVerified: true)) == .inserted)
        let gone = try await store.insert(
            account(1, "a@in.test"), on: domainID(2), limit: nil, recording: event())
        #expect(gone == .domainGone)
        #expect(try await store.account(id: accountID(1)) == nil)
        let made = try await store.insert(
            account(1, "a@in.test"), on: domainID(1), limit: nil, recording: event())
        #expect(made == .inserted)
    }

    /// Hashing the password happens between reading the domain and inserting the account.
    @Test(arguments: Engine.allCases)
    func aDomainRemovedDuringACreationHasNoAccount(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for turn in 1...20 {
            #expect(
                try await store.insert(domain(turn, "in\(turn).test", isVerified: true))
                    == .inserted)
            let made = try account(turn, "a@in\(turn).test")
            async let removal = store.removeDomain(
                domainID(turn), of: userID(1), recording: event())
            async let insertion = store.insert(
                made, on: domainID(turn), limit: nil, recording: event())
            switch try await (removal, insertion) {
            case (.removed, .domainGone), (.inUse, .inserted): break
            case let other: Issue.record("\(other)")
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func aDomainWithAnAccountIsNotRemoved(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1, "in.test", isVerified: true)) == .inserted)
        #expect(try await store.insert(account(1, "a@in.test")))
        #expect(try await store.insert(account(2, "b@in.test", owner: userID(1))))
        #expect(try await store.removeDomain(domainID(1), of: userID(2)) == .absent)
        for number in 1...2 {
            #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .inUse)
            #expect(try await store.delete(accountID(number), at: nil))
        }
        #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .removed)
    }

    @Test(arguments: Engine.allCases)
    func accountsOnOtherDomainsDoNotPreventItsRemoval(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(domain(1, "in.test")) == .inserted)
        for (number, name) in ["a@x.in.test", "a@xin.test", "in.test@other.test"].enumerated() {
            #expect(try await store.insert(account(number, name)))
        }
        #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .removed)
    }

    @Test(arguments: Engine.allCases)
    func allDomainsAreListedByNameInPagesWithTheirOwners(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let all = [
            try domain(1, "b.test", of: 2), try domain(2, "a.test", of: nil),
            try domain(3, "c.test", of: 1),
        ]
        for one in all { #expect(try await store.insert(one) == .inserted) }
        let listed = try await store.domains(after: nil, limit: 9)
        #expect(listed.map(\.domain) == [all[1], all[0], all[2]])
        #expect(
            listed.map(\.owner?.text) == [nil, "user2@example.test", "user1@example.test"])
        #expect(try await store.domains(after: nil, limit: 2) == Array(listed[..<2]))
        #expect(try await store.domains(after: all[0], limit: 2) == [listed[2]])
        #expect(try await store.domains(after: all[2], limit: 2).isEmpty)
        // Claims to one name are listed each, also when a page ends between them.
        #expect(try await store.insert(domain(4, "b.test", of: 1)) == .inserted)
        #expect(
            try await store.domains(after: all[0], limit: 9).map(\.domain.id)
                == [domainID(4), domainID(3)])
        for limit in [0, -1] {
            #expect(try await store.domains(after: nil, limit: limit).isEmpty)
        }
    }
}
