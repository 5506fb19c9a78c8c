import AuthCore
import Testing

/// What every engine guarantees about deleting accounts.
@Suite struct AccountDeletionTests {
    @Test(arguments: Engine.allCases)
    func aDeletedAccountIsFoundByNoKey(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1)
        #expect(try await store.insert(one))
        #expect(try await store.delete(one.id, at: nil))
        #expect(try await store.account(id: one.id) == nil)
        #expect(try await store.account(address: one.address) == nil)
        #expect(try await store.account(apiKey: digest(1)) == nil)
        #expect(try await store.accounts(after: nil, limit: 10).isEmpty)
        #expect(try await !store.delete(one.id, at: nil))
    }

    @Test(arguments: Engine.allCases)
    func aDeletedAddressCannotBeUsedUntilItIsFreed(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1)
        #expect(try await store.insert(one))
        #expect(try await store.delete(one.id, at: nil))
        #expect(try await !store.insert(account(2, one.address.description)))
        #expect(try await store.free(one.address))
        #expect(try await store.insert(account(2, one.address.description)))
    }

    @Test(arguments: Engine.allCases)
    func onlyARetiredAddressCanBeFreed(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1)
        #expect(try await !store.free(one.address))
        #expect(try await store.insert(one))
        #expect(try await !store.free(one.address))
        #expect(try await store.delete(one.id, at: nil))
        #expect(try await winners(of: 20) { _ in try await store.free(one.address) } == 1)
    }

    @Test(arguments: Engine.allCases)
    func aDeletionAtAnotherVersionDeletesNothing(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try account(1)
        #expect(try await store.insert(one))
        #expect(try await !store.delete(one.id, at: 2))
        #expect(try await store.account(id: one.id) == one)
        #expect(try await !store.free(one.address))
        #expect(try await store.delete(one.id, at: 1))
    }

    @Test(arguments: Engine.allCases)
    func aDisabledAccountCanBeDeleted(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1, state: .disabled)))
        #expect(try await store.delete(accountID(1), at: nil))
    }

    @Test(arguments: Engine.allCases)
    func anAddressCanBeRetiredTwice(engine: Engine) async throws {
        let store = try await engine.open()
        for number in 1...2 {
            #expect(try await store.insert(account(number, "again@mail.test")))
            #expect(try await store.delete(accountID(number), at: nil))
            #expect(try await store.free(address("again@mail.test")))
        }
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentDeletionsExactlyOneDeletes(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        #expect(
            try await winners(of: 50) { _ in try await store.delete(accountID(1), at: 1) } == 1)
    }

    @Test(arguments: Engine.allCases)
    func ofADeletionAndAReplacementAtOneVersionOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<20 {
            #expect(try await store.insert(account(round)))
            let won = try await winners(of: 2) { side in
                if side == 0 { return try await store.delete(accountID(round), at: 1) }
                return try await store.replaceCredential(
                    of: accountID(round), at: 1, with: .apiKey(digest(1000 + round)))
            }
            #expect(won == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func anAddressIsNeverFreeBetweenDeletionAndInsertion(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<20 {
            let name = "round\(round)@mail.test"
            #expect(try await store.insert(account(2 * round, name)))
            _ = try await winners(of: 2) { side in
                if side == 0 { return try await store.delete(accountID(2 * round), at: nil) }
                // In use before the deletion and retired after it, so never free.
                let taken = try await store.insert(account(2 * round + 1, name))
                #expect(!taken)
                return taken
            }
        }
    }
}

@Suite struct AccountDirectoryTests {
    @Test(arguments: Engine.allCases)
    func allAccountsAreListedInAddressOrderInPages(engine: Engine) async throws {
        let store = try await engine.open()
        let names = ["b@mail.test", "a@mail.test", "a.z@mail.test", "a-z@mail.test", "c@a.test"]
        for (number, name) in names.enumerated() {
            #expect(try await store.insert(account(number, name)))
        }
        var seen: [String] = []
        var last: Address?
        while true {
            let page = try await store.accounts(after: last, limit: 2)
            #expect(page.count <= 2)
            guard let end = page.last else { break }
            seen += page.map(\.address.description)
            last = end.address
        }
        #expect(seen == names.sorted())
    }

    @Test(arguments: Engine.allCases)
    func aPageCanStartAfterAnUnknownAddress(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1, "b@mail.test")))
        #expect(try await store.accounts(after: address("a@mail.test"), limit: 5).count == 1)
        #expect(try await store.accounts(after: address("c@mail.test"), limit: 5).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func aLimitOfZeroOrLessReturnsNothing(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        for limit in [0, -1, .min] {
            #expect(try await store.accounts(after: nil, limit: limit).isEmpty)
        }
        #expect(try await store.accounts(after: nil, limit: .max).count == 1)
    }
}
