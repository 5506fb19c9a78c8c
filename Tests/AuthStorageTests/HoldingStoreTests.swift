import AuthCore
import AuthStorage
import TestPrimitives
import Testing

/// What every engine guarantees about the accounts that a Pro user owns.
@Suite(.indexesAreUsed) struct HoldingStoreTests {
    private func withUsers(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        return store
    }

    private func insert(
        _ account: Account, limit: Int?, in store: any EngineStore
    ) async throws -> AccountInsertion {
        try await store.insert(account, limit: limit, recording: event())
    }

    @Test(arguments: Engine.allCases)
    func ownerAndPasswordOfAnAccountAreStored(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let owned = Account(
            id: accountID(1), address: try address("a@mail.test"),
            credential: .password(hash("a")), owner: userID(1), quota: 5, used: 3,
            created: .epoch)
        #expect(try await store.insert(owned))
        #expect(try await store.account(id: owned.id) == owned)
        #expect(try await store.account(address: owned.address) == owned)
    }

    @Test(arguments: Engine.allCases)
    func anUnknownOwnerIsAnError(engine: Engine) async throws {
        let store = try await engine.open()
        await #expect(throws: StorageError.unknownOwner) {
            try await store.insert(account(1, owner: userID(1)))
        }
        #expect(try await store.account(id: accountID(1)) == nil)
        #expect(try await store.subjects.isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func anOwnerCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...3 {
            #expect(
                try await insert(account(number, owner: userID(1)), limit: 3, in: store)
                    == .inserted)
        }
        #expect(
            try await insert(account(4, owner: userID(1)), limit: 3, in: store) == .limitReached)
        // The limit is checked before the address.
        #expect(
            try await insert(account(1, owner: userID(1)), limit: 3, in: store) == .limitReached)
        #expect(try await insert(account(4, owner: userID(2)), limit: 3, in: store) == .inserted)
        #expect(try await insert(account(5), limit: 0, in: store) == .inserted)
        #expect(try await insert(account(6, owner: userID(1)), limit: nil, in: store) == .inserted)
        for limit in [0, -1, .min] {
            #expect(
                try await insert(account(7, owner: userID(2)), limit: limit, in: store)
                    == .limitReached)
        }
        #expect(try await store.account(id: accountID(7)) == nil)
        #expect(
            try await insert(account(7, owner: userID(2)), limit: .max, in: store) == .inserted)
    }

    @Test(arguments: Engine.allCases)
    func aDeletedAccountDoesNotCountAgainstTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await insert(account(1, owner: userID(1)), limit: 1, in: store) == .inserted)
        #expect(try await store.delete(accountID(1), at: nil))
        #expect(try await insert(account(2, owner: userID(1)), limit: 1, in: store) == .inserted)
    }

    @Test(arguments: Engine.allCases)
    func concurrentInsertsCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let won = try await winners(of: 50) { number in
            try await insert(account(number, owner: userID(1)), limit: 7, in: store) == .inserted
        }
        #expect(won == 7)
        #expect(try await store.holdings(of: userID(1)).accounts == 7)
    }

    @Test(arguments: Engine.allCases)
    func creationsThatRaceDeletionsCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 0..<5 {
            #expect(
                try await insert(account(number, owner: userID(1)), limit: 5, in: store)
                    == .inserted)
        }
        let made = Level()
        let deleted = try await winners(of: 40) { number in
            guard number % 4 == 0 else {
                if try await insert(account(100 + number, owner: userID(1)), limit: 5, in: store)
                    == .inserted
                {
                    made.raise()
                }
                return false
            }
            // One of the five, or one that may have been made meanwhile.
            let id = number < 20 ? accountID(number / 4) : accountID(101 + number)
            return try await store.delete(id, at: nil)
        }
        let kept = try await store.accounts(of: userID(1), after: nil, limit: .max).count
        #expect(kept == 5 + made.value - deleted && kept <= 5)
        // All of them count for a day.
        #expect(5 + made.value <= 10)
        #expect(try await store.holdings(of: userID(1)).accounts == kept)
        // An address that is being deleted.
        for round in 0..<10 {
            let old = try account(200 + round, "round\(round)@mail.test", owner: userID(2))
            #expect(try await store.insert(old))
            let won = try await winners(of: 2) { side in
                if side == 0 { return try await store.delete(old.id, at: nil) }
                return try await insert(
                    account(300 + round, "round\(round)@mail.test", owner: userID(2)), limit: 99,
                    in: store) == .inserted
            }
            #expect(won == 1)
        }
        #expect(try await store.holdings(of: userID(2)).accounts == 0)
    }

    @Test(arguments: Engine.allCases)
    func holdingsCountTheUsersAccountsAndDomains(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.holdings(of: userID(1)) == (0, 0))
        for number in 1...3 {
            #expect(try await store.insert(account(number, owner: userID(1))))
            #expect(try await store.insert(domain(number)) == .inserted)
        }
        #expect(try await store.insert(account(9)))
        #expect(try await store.insert(account(10, owner: userID(2))))
        #expect(try await store.insert(domain(9, of: nil)) == .inserted)
        #expect(try await store.delete(accountID(2), at: nil))
        #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .removed)
        #expect(try await store.holdings(of: userID(1)) == (2, 2))
        #expect(try await store.holdings(of: userID(2)) == (1, 0))
        #expect(try await store.holdings(of: userID(3)) == (0, 0))
    }

    @Test(arguments: Engine.allCases)
    func accountsAreListedInOrderOfCreationThenId(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let times: [Int64] = [5, -3, 5, 0, .min, .max, 5]
        var expected: [Account] = []
        for (number, time) in times.enumerated() {
            let one = try account(number, owner: userID(1), created: time)
            expected.append(one)
            #expect(try await store.insert(one))
            #expect(try await store.insert(account(100 + number, owner: userID(2))))
            #expect(try await store.insert(account(200 + number)))
        }
        expected.sort { ($0.created, $0.id.text) < ($1.created, $1.id.text) }
        for size in [1, 2, 3, 7, 8] {
            #expect(try await pages(of: store, size: size) == expected)
        }
        for limit in [0, -1, .min] {
            #expect(try await store.accounts(of: userID(1), after: nil, limit: limit).isEmpty)
        }
        #expect(try await store.accounts(of: userID(1), after: nil, limit: .max) == expected)
        #expect(try await store.accounts(of: userID(3), after: nil, limit: 9).isEmpty)
    }

    private func pages(of store: any EngineStore, size: Int) async throws -> [Account] {
        var seen: [Account] = []
        var cursor: AccountCursor?
        while true {
            let page = try await store.accounts(of: userID(1), after: cursor, limit: size)
            #expect(page.count <= size)
            seen += page
            guard let last = page.last else { return seen }
            cursor = AccountCursor(created: last.created, id: last.id)
        }
    }

    @Test(arguments: Engine.allCases)
    func changesBetweenPagesSkipOrRepeatNoOtherAccount(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 0..<20 {
            #expect(
                try await store.insert(
                    account(number, owner: userID(1), created: Int64(number / 4))))
        }
        var seen: [AccountID] = []
        var cursor: AccountCursor?
        var next = 100
        while true {
            let page = try await store.accounts(of: userID(1), after: cursor, limit: 3)
            guard let last = page.last else { break }
            seen += page.map(\.id)
            cursor = AccountCursor(created: last.created, id: last.id)
            // The account at the cursor is deleted; others are added before and after it.
            #expect(try await store.delete(last.id, at: nil))
            for time: Int64 in [0, 2, 9] where next < 130 {
                #expect(
                    try await store.insert(account(next, owner: userID(1), created: time)))
                next += 1
            }
        }
        #expect(Set(seen).count == seen.count)
        #expect(Set(seen).isSuperset(of: (0..<20).map(accountID)))
    }
}

/// What every engine guarantees about a newer hash of the same password.
@Suite(.indexesAreUsed) struct AccountRehashTests {
    private func account(_ number: Int, _ password: String) throws -> Account {
        Account(
            id: accountID(number), address: try address("user\(number)@mail.test"),
            credential: .password(hash(password)), quota: 1, created: .epoch)
    }

    @Test(arguments: Engine.allCases)
    func aRehashKeepsTheVersionAndReplacesOnlyTheOldHash(engine: Engine) async throws {
        let store = try await engine.open()
        var one = try account(1, "old")
        #expect(try await store.insert(one))
        #expect(try await !store.rehash(one.id, from: hash("wrong"), to: hash("new")))
        #expect(try await !store.rehash(accountID(2), from: hash("old"), to: hash("new")))
        #expect(try await store.account(id: one.id) == one)
        #expect(try await store.rehash(one.id, from: hash("old"), to: hash("new")))
        one.credential = .password(hash("new"))
        #expect(try await store.account(id: one.id) == one)
        #expect(try await !store.rehash(one.id, from: hash("old"), to: hash("newer")))
    }

    @Test(arguments: Engine.allCases)
    func anAccountWithAnAPIKeyCannotBeRehashed(engine: Engine) async throws {
        let store = try await engine.open()
        let agent = Account(
            id: accountID(1), address: try address("agent@mail.test"),
            credential: .apiKey(digest(1)), quota: 1, created: .epoch)
        #expect(try await store.insert(agent))
        #expect(try await !store.rehash(agent.id, from: hash(""), to: hash("new")))
        #expect(try await store.account(id: agent.id) == agent)
    }

    @Test(arguments: Engine.allCases)
    func aRehashNeverUndoesAReplacement(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<20 {
            #expect(try await store.insert(account(round, "old")))
            _ = try await winners(of: 2) { side in
                let id = accountID(round)
                if side == 0 {
                    return try await store.rehash(id, from: hash("old"), to: hash("newer"))
                }
                return try await store.replaceCredential(
                    of: id, at: 1, with: .password(hash("replaced")))
            }
            let after = try await store.account(id: accountID(round))
            #expect(after?.credential == .password(hash("replaced")))
        }
    }

    @Test(arguments: Engine.allCases)
    func aKeyIsReplacedByAPasswordAndBack(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1, "old")))
        let id = accountID(1)
        #expect(try await store.replaceCredential(of: id, at: 1, with: .apiKey(digest(5))))
        #expect(try await store.account(apiKey: digest(5))?.credential == .apiKey(digest(5)))
        #expect(
            try await store.replaceCredential(of: id, at: 2, with: .password(hash("again"))))
        #expect(try await store.account(apiKey: digest(5)) == nil)
        #expect(try await store.account(id: id)?.credential == .password(hash("again")))
    }

    @Test(arguments: Engine.allCases)
    func anyNumberOfAccountsHavePasswordsAndNoKey(engine: Engine) async throws {
        let store = try await engine.open()
        for number in 0..<5 { #expect(try await store.insert(account(number, "same"))) }
        #expect(try await store.accounts(after: nil, limit: 10).count == 5)
    }
}
