import AuthCore
import Testing

/// What every engine guarantees about deleting accounts.
@Suite(.indexesAreUsed) struct AccountDeletionTests {
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

@Suite(.indexesAreUsed) struct AccountDirectoryTests {
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

    @Test(arguments: Engine.allCases)
    func theLimitAndThenAUsedAddressAreInTheWayOfAnAccount(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        for number in 1...2 {
            #expect(try await store.insert(account(number, owner: userID(1))))
        }
        #expect(try await store.delete(accountID(2), at: nil))
        func obstacle(
            _ name: String, owner: Int? = 1, limit: Int? = 2
        ) async throws -> AccountObstacle? {
            try await store.obstacle(
                to: address("\(name)@mail.test"), of: owner.map(userID), limit: limit)
        }
        #expect(try await obstacle("new") == nil)
        for used in ["user1", "user2"] {
            #expect(try await obstacle(used) == .addressTaken)
            #expect(try await obstacle(used, owner: nil, limit: nil) == .addressTaken)
        }
        for limit in [1, 0, -1, .min] {
            #expect(try await obstacle("user1", limit: limit) == .limitReached)
        }
        for limit in [nil, .max] as [Int?] {
            #expect(try await obstacle("new", limit: limit) == nil)
        }
        // Neither another user nor an account without an owner is held to it.
        #expect(try await obstacle("new", owner: 2, limit: 1) == nil)
        #expect(try await obstacle("new", owner: nil, limit: 1) == nil)
    }

    @Test(arguments: Engine.allCases)
    func accountsDeletedWithinADayCountAgainstTwiceTheLimit(engine: Engine) async throws {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        let day: Int64 = 86_400_000
        func make(_ number: Int, owner: Int? = 1, at time: Int64) async throws -> AccountInsertion {
            try await store.insert(
                account(number, owner: owner.map(userID)), limit: 2,
                recording: event(.accountCreated, time: time))
        }
        func delete(_ number: Int, at time: Int64) async throws {
            let isDeleted = try await store.delete(
                accountID(number), at: nil, recording: event(.accountDeleted, time: time))
            #expect(isDeleted)
        }
        for number in 1...4 {
            #expect(try await make(number, at: 10) == .inserted)
            try await delete(number, at: 10)
        }
        #expect(try await make(5, at: 10) == .limitReached)
        #expect(try await make(5, at: day + 9) == .limitReached)
        // Neither another user nor an account without an owner is held to it.
        #expect(try await make(6, owner: 2, at: 10) == .inserted)
        #expect(try await make(7, owner: nil, at: 10) == .inserted)
        #expect(try await make(5, at: day + 10) == .inserted)
        #expect(try await make(8, at: day + 10) == .inserted)
        #expect(try await make(9, at: day + 10) == .limitReached)
        // Of two owned and two deleted ones none can be made before a day has passed.
        for number in [5, 8] { try await delete(number, at: day + 20) }
        for number in [10, 11] { #expect(try await make(number, at: day + 20) == .inserted) }
        try await delete(10, at: day + 20)
        #expect(try await make(12, at: day + 20) == .limitReached)
        // An address that the operator frees does not count.
        #expect(try await store.free(address("user5@mail.test")))
        #expect(try await make(12, at: day + 20) == .inserted)
    }

    @Test(arguments: Engine.allCases)
    func concurrentCreationsAndDeletionsCannotExceedTwiceTheLimit(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        let made = try await winners(of: 50) { number in
            let result = try await store.insert(
                account(number, owner: userID(1)), limit: 3, recording: event())
            guard result == .inserted else { return false }
            return try await store.delete(accountID(number), at: nil)
        }
        #expect((3...6).contains(made))
    }
}
