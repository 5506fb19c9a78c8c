import AuthCore
import Testing

/// What every engine guarantees about accounts.
@Suite(.indexesAreUsed) struct AccountStoreTests {
    @Test(arguments: Engine.allCases)
    func anAccountIsFoundByIDAddressAndKey(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1)
        #expect(try await store.insert(one))
        #expect(try await store.insert(account(2)))
        #expect(try await store.account(id: one.id) == one)
        #expect(try await store.account(address: one.address) == one)
        #expect(try await store.account(apiKey: digest(1)) == one)
    }

    @Test(arguments: Engine.allCases)
    func anUnknownAccountIsAbsent(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        #expect(try await store.account(id: accountID(2)) == nil)
        #expect(try await store.account(address: address("user2@mail.test")) == nil)
        #expect(try await store.account(apiKey: digest(2)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func everyFieldIsStoredAndRead(engine: Engine) async throws {
        let store = try await engine.open()
        let strange = Account(
            id: accountID(7), address: try address("a.b_c-d+e@x.mail.test"), state: .disabled,
            credential: .apiKey(digest(9)), credentialVersion: 4_000_000_000_000,
            quota: .max, used: .min, created: Instant(milliseconds: -1))
        #expect(try await store.insert(strange))
        #expect(try await store.account(id: strange.id) == strange)
    }

    @Test(arguments: Engine.allCases)
    func anAddressBelongsToOneAccount(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1, "same@mail.test")))
        #expect(try await !store.insert(account(2, "same@mail.test")))
        #expect(try await store.account(address: address("same@mail.test"))?.id == accountID(1))
        #expect(try await store.account(apiKey: digest(2)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func anIdOrAKeyInUseIsNotInsertedAgain(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        #expect(try await !store.insert(account(1, "other@mail.test", key: 5)))
        #expect(try await !store.insert(account(2, "other@mail.test", key: 1)))
        #expect(try await store.account(address: address("other@mail.test")) == nil)
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentInsertsOfOneAddressOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        let won = try await winners(of: 64) { number in
            try await store.insert(account(number, "wanted@mail.test"))
        }
        #expect(won == 1)
        let page = try await store.accounts(after: nil, limit: 100)
        #expect(page.map(\.address.description) == ["wanted@mail.test"])
    }

    @Test(arguments: Engine.allCases)
    func concurrentInsertsOfDifferentAddressesAllSucceed(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await winners(of: 64) { try await store.insert(account($0)) } == 64)
        for number in 0..<64 {
            #expect(try await store.account(id: accountID(number)) == account(number))
        }
    }

    @Test(arguments: Engine.allCases)
    func replacingTheCredentialIncreasesItsVersionAndEndsTheOldKey(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        #expect(
            try await store.replaceCredential(
                of: accountID(1), at: 1, with: .apiKey(digest(10))))
        var expected = try account(1, key: 10)
        expected.credentialVersion = 2
        #expect(try await store.account(apiKey: digest(10)) == expected)
        #expect(try await store.account(id: accountID(1)) == expected)
        #expect(try await store.account(apiKey: digest(1)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func aCredentialIsReplacedOnlyAtItsVersion(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1)
        #expect(try await store.insert(one))
        for version: Int64 in [0, 2, -1, .max, .min] {
            #expect(
                try await !store.replaceCredential(
                    of: one.id, at: version, with: .apiKey(digest(10))))
        }
        #expect(
            try await !store.replaceCredential(
                of: accountID(2), at: 1, with: .apiKey(digest(10))))
        #expect(try await store.account(id: one.id) == one)
        #expect(try await store.account(apiKey: digest(10)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func aDisabledAccountKeepsItsCredential(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1, state: .disabled)
        #expect(try await store.insert(one))
        #expect(
            try await !store.replaceCredential(of: one.id, at: 1, with: .apiKey(digest(10))))
        #expect(try await store.account(id: one.id) == one)
    }

    @Test(arguments: Engine.allCases)
    func anotherAccountsKeyIsNotTakenOver(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        #expect(try await store.insert(account(2)))
        #expect(
            try await !store.replaceCredential(of: accountID(1), at: 1, with: .apiKey(digest(2))))
        #expect(try await store.account(apiKey: digest(2)) == account(2))
        #expect(try await store.account(id: accountID(1)) == account(1))
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentReplacementsAtOneVersionOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        let won = try await winners(of: 50) { number in
            try await store.replaceCredential(
                of: accountID(1), at: 1, with: .apiKey(digest(100 + number)))
        }
        #expect(won == 1)
        let after = try #require(try await store.account(id: accountID(1)))
        #expect(after.credentialVersion == 2)
        var alive = 0
        for number in 0..<50 where try await store.account(apiKey: digest(100 + number)) != nil {
            alive += 1
        }
        #expect(alive == 1)
    }

    @Test(arguments: Engine.allCases)
    func disablingIncreasesTheVersionAndEnablingKeepsIt(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        #expect(try await store.setState(of: accountID(1), to: .disabled))
        let disabled = try #require(try await store.account(id: accountID(1)))
        #expect(disabled.state == .disabled)
        #expect(disabled.credentialVersion == 2)
        #expect(try await store.setState(of: accountID(1), to: .active))
        let enabled = try #require(try await store.account(id: accountID(1)))
        #expect(enabled.state == .active)
        #expect(enabled.credentialVersion == 2)
    }

    @Test(arguments: Engine.allCases)
    func theStateOfAnUnknownAccountCannotBeSet(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await !store.setState(of: accountID(1), to: .disabled))
    }

    @Test(arguments: Engine.allCases)
    func aUsageReportChangesOnlyTheUsage(engine: Engine) async throws {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(account(number))) }
        let reported = try await store.subjects
        func report(_ text: String, _ used: Int64) throws -> UsageReport {
            UsageReport(address: try address(text), used: used)
        }
        let found = try await store.note([
            report("user1@mail.test", 7), report("nobody@mail.test", 8),
            report("user2@mail.test", 9), report("user2@mail.test", .max),
        ])
        #expect(found == [true, false, true, true])
        for (number, used) in [(1, 7), (2, Int64.max)] {
            var expected = try account(number)
            expected.used = used
            #expect(try await store.account(id: accountID(number)) == expected)
        }
        #expect(try await store.note([]).isEmpty)
        #expect(try await store.subjects == reported)
    }

    @Test(arguments: Engine.allCases)
    func theOtherDomainsOfAgentsAreFound(engine: Engine) async throws {
        let store = try await engine.open()
        func other(than name: String) async throws -> String? {
            try await store.agentDomain(otherThan: domainName(name))?.text
        }
        #expect(try await other(than: "mail.test") == nil)
        let box = Account(
            id: accountID(9), address: try address("a@box.test"),
            credential: .password(hash("a")), quota: 1, created: .epoch)
        #expect(try await store.insert(box))
        #expect(try await store.insert(account(1, "a@mail.test")))
        // Accounts with a password get no capabilities.
        #expect(try await other(than: "mail.test") == nil)
        #expect(try await other(than: "b.test") == "mail.test")
        for (number, name) in [(2, "b.test"), (3, "z.test")] {
            #expect(try await store.insert(account(number, "a@\(name)")))
            #expect(try await other(than: "mail.test") == name)
            #expect(try await store.delete(accountID(number), at: nil))
        }
    }
}
