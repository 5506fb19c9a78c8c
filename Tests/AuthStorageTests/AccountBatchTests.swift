import AuthCore
import Testing

@testable import AuthStorage

/// Accounts that come while the connections are in use are inserted in one transaction.
@Suite struct AccountBatchTests {
    private struct Creation: Sendable {
        let account: Account
        var domain: DomainID?
        var limit: Int?

        func insert(
            into store: PostgresStore
        ) async throws -> Result<AccountInsertion, StorageError> {
            do {
                return .success(
                    try await store.insert(
                        account, on: domain, limit: limit,
                        recording: event(.accountCreated, account.address.description)))
            } catch let error as StorageError {
                return .failure(error)
            }
        }
    }

    /// Inserts accounts that come while the connections are in use.
    /// - Parameter changes: called once all of them wait.
    /// - Returns: the result of each, in their order.
    private func insert(
        _ creations: [Creation], into held: HeldStore, once changes: () async throws -> Void = {}
    ) async throws -> [Result<AccountInsertion, StorageError>] {
        await held.hold()
        return try await inOrder(creations.count) { index in
            try await creations[index].insert(into: held.store)
        } isBegun: {
            held.store.batches.waiting >= $0
        } once: {
            try await changes()
            held.release()
        }
    }

    private func mailbox(_ number: Int, owner: Int) throws -> Account {
        Account(
            id: accountID(number), address: try address("user\(number)@mail.test"),
            credential: .password(hash("\(number)")), owner: userID(owner), quota: 7, used: 3,
            created: Instant(milliseconds: Int64(number)))
    }

    @Test func eachAccountOfABatchIsDecidedAsAlone() async throws {
        let held = try await HeldStore()
        let store = held.store
        for number in 1...3 { #expect(try await store.insert(user(number))) }
        #expect(try await store.insert(domain(1, isVerified: true)) == .inserted)
        #expect(try await store.insert(domain(2)) == .inserted)
        #expect(try await store.insert(account(1, "taken@mail.test")))
        #expect(try await store.insert(account(2, owner: userID(2))))
        let before = try await store.subjects.count
        let creations = [
            Creation(account: try mailbox(10, owner: 1), limit: 2),
            Creation(account: try account(11, "taken@mail.test", owner: userID(1)), limit: 9),
            Creation(account: try account(12, owner: userID(2)), limit: 1),
            Creation(account: try account(13, owner: userID(9)), limit: 9),
            Creation(account: try account(14, owner: userID(9))),
            Creation(
                account: try account(15, "a@domain1.test", owner: userID(1)), domain: domainID(1),
                limit: 9),
            Creation(account: try account(16, owner: userID(1)), domain: domainID(2), limit: 9),
            Creation(account: try account(17, owner: userID(3)), domain: domainID(3), limit: 9),
            Creation(account: try account(18)),
            Creation(account: try account(19, "user18@mail.test")),
            Creation(account: try account(20, key: 18)),
            Creation(account: try account(21, owner: userID(1)), limit: 1),
            Creation(account: try account(22, owner: userID(2))),
            Creation(account: try account(23, "b@domain1.test"), domain: domainID(1)),
            Creation(account: try account(24, owner: userID(3)), limit: 0),
        ]
        let results = try await insert(creations, into: held)
        let inserted = Result<AccountInsertion, StorageError>.success(.inserted)
        #expect(
            results == [
                inserted, .success(.addressTaken), .success(.limitReached),
                .failure(.unknownOwner), .failure(.unknownOwner), inserted, .success(.domainGone),
                .success(.domainGone), inserted, .success(.addressTaken), .success(.addressTaken),
                .success(.limitReached), inserted, inserted, .success(.limitReached),
            ])
        let made = zip(creations, results).filter { $0.1 == inserted }.map(\.0.account)
        for account in made {
            #expect(try await store.account(id: account.id) == account)
        }
        #expect(
            try await Set(store.subjects.dropFirst(before))
                == Set(made.map(\.address.description)))
        #expect(try await store.subjects.count == before + made.count)
        #expect(
            try await Set(store.accountEvents(after: 0, limit: 99).map(\.account))
                == Set(made.map(\.id) + [accountID(1), accountID(2)]))
        #expect(try await store.holdings(of: userID(1)).accounts == 2)
        #expect(try await store.holdings(of: userID(2)).accounts == 2)
        held.proxy.close()
    }

    /// More than a batch holds, of one owner whose limit ends within it.
    @Test func anOwnersLimitHoldsWithinABatch() async throws {
        let held = try await HeldStore()
        #expect(try await held.store.insert(user(1)))
        let results = try await insert(
            (0..<150).map {
                Creation(account: try account($0, owner: userID(1)), limit: 70)
            }, into: held)
        #expect(results.filter { $0 == .success(.inserted) }.count == 70)
        #expect(results.filter { $0 == .success(.limitReached) }.count == 80)
        #expect(try await held.store.holdings(of: userID(1)).accounts == 70)
        #expect(try await held.store.accounts(of: userID(1), after: nil, limit: 99).count == 70)
        held.proxy.close()
    }

    @Test func deletedAccountsCountAgainstTheLimitOfABatch() async throws {
        let held = try await HeldStore()
        let store = held.store
        #expect(try await store.insert(user(1)))
        for number in 0..<5 {
            #expect(try await store.insert(account(number, owner: userID(1))))
            #expect(
                try await store.delete(
                    accountID(number), at: nil, recording: event(.accountDeleted)))
        }
        // Three accounts at once, and six with those that were deleted.
        let results = try await insert(
            (10..<14).map {
                Creation(account: try account($0, owner: userID(1)), limit: 3)
            }, into: held)
        #expect(results.filter { $0 == .success(.inserted) }.count == 1)
        held.proxy.close()
    }

    /// Whether the server has got the transaction or not.
    @Test(arguments: [CuttingProxy.Cut.answer, .request])
    func accountsOfABatchWhoseConnectionIsLostAreInsertedOnce(
        cut: CuttingProxy.Cut
    ) async throws {
        let held = try await HeldStore(connections: 4)
        let store = held.store
        for number in 0..<20 { #expect(try await store.insert(user(number))) }
        #expect(try await store.insert(account(99, "user3@mail.test")))
        let before = try await store.subjects.count
        let creations = try (0..<20).map {
            // The limit is used up once the account is there.
            Creation(account: try account($0, owner: userID($0)), limit: 1)
        }
        let results = try await insert(creations, into: held) { held.proxy.cut(cut) }
        #expect(held.proxy.cuts == 1)
        #expect(
            results
                == (0..<20).map { .success($0 == 3 ? AccountInsertion.addressTaken : .inserted) })
        #expect(try await store.subjects.count == before + 19)
        #expect(try await store.accountEvents(after: 0, limit: 99).count == 20)
        for number in 0..<20 where number != 3 {
            #expect(try await store.holdings(of: userID(number)).accounts == 1)
        }
        held.proxy.close()
    }

    /// The lock would otherwise delay the accounts of every other owner.
    @Test func anOwnerWhoseRowIsLockedDelaysNoOtherAccount() async throws {
        let held = try await HeldStore(connections: 2)
        let store = held.store
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        let other = try TestServer.shared.connect(to: held.url)
        try other.execute(
            script: "BEGIN; SELECT 1 FROM pro_user WHERE id = '\(userID(1))' FOR UPDATE",
            name: "hold")
        async let results = insert(
            [
                Creation(account: try account(1, owner: userID(1)), limit: 9),
                Creation(account: try account(2, owner: userID(2)), limit: 9),
            ], into: held)
        // While the lock is held.
        while try await store.account(id: accountID(2)) == nil {}
        #expect(try await store.account(id: accountID(1)) == nil)
        try other.execute(script: "COMMIT", name: "release")
        #expect(try await results == [.success(.inserted), .success(.inserted)])
        held.proxy.close()
    }

    /// As when an operator inserts it by hand. The others wait for a moment only.
    @Test func anAddressThatIsBeingInsertedEndsABatchButNotItsAccounts() async throws {
        let held = try await HeldStore(connections: 2)
        let store = held.store
        let other = try TestServer.shared.connect(to: held.url)
        try other.execute(
            script: """
                BEGIN; INSERT INTO account
                    (id, address, state, password_hash, credential_version, quota, used, created)
                VALUES (gen_random_uuid(), 'user1@mail.test', 'active', '', 1, 0, 0, now())
                """, name: "hold")
        async let results = insert(
            [
                Creation(account: try account(1)), Creation(account: try account(2)),
            ], into: held)
        while try await store.account(id: accountID(2)) == nil {}
        try other.execute(script: "COMMIT", name: "release")
        #expect(try await results == [.success(.addressTaken), .success(.inserted)])
        held.proxy.close()
    }

    @Test func aClosedStoreInsertsNoBatch() async throws {
        let held = try await HeldStore()
        await held.store.close()
        let results = try await insert(
            [
                Creation(account: try account(1)), Creation(account: try account(2)),
            ], into: held)
        #expect(results == [.failure(.closed), .failure(.closed)])
        held.proxy.close()
    }
}
