import AuthCore
import Testing

@testable import AuthStorage

/// Look-ups that come while the connections are in use are sent together.
@Suite struct LookUpTests {
    /// - Parameter changes: called once all of them wait.
    /// - Returns: the emails of the users, and the addresses of the accounts.
    private func names(
        of users: Int, and accounts: Int, in held: HeldStore,
        once changes: () throws -> Void = {}
    ) async throws -> [String?] {
        await held.hold()
        return try await inOrder(users + accounts) { index in
            do {
                if index < users { return try await held.store.user(id: userID(index))?.email.text }
                return try await held.store.account(id: accountID(index - users))?.address
                    .description
            } catch StorageError.failed {
                return "failed"
            }
        } isBegun: {
            held.store.lookUps.waiting >= $0
        } once: {
            try changes()
            held.release()
        }
    }

    private func filled(connections: Int = 1) async throws -> HeldStore {
        let held = try await HeldStore(connections: connections)
        for number in 1..<50 {
            #expect(try await held.store.insert(user(number)))
            #expect(try await held.store.insert(account(number)))
        }
        return held
    }

    private static let emails = [nil] + (1..<50).map { "user\($0)@example.test" }
    private static let addresses = [nil] + (1..<50).map { "user\($0)@mail.test" }

    /// More than are sent at once.
    @Test func eachLookUpGetsItsOwnRow() async throws {
        let held = try await filled()
        #expect(
            try await names(of: 50, and: 50, in: held) == Self.emails + Self.addresses)
        held.proxy.close()
    }

    @Test(arguments: [CuttingProxy.Cut.answer, .request])
    func lookUpsWhoseConnectionIsLostAreRepeated(cut: CuttingProxy.Cut) async throws {
        let held = try await filled(connections: 2)
        let found = try await names(of: 50, and: 50, in: held) { held.proxy.cut(cut) }
        #expect(found == Self.emails + Self.addresses)
        #expect(held.proxy.cuts == 1)
        held.proxy.close()
    }

    /// The statement that fails ends the transaction of all.
    @Test func aLookUpThatFailsEndsNoOther() async throws {
        let held = try await filled(connections: 2)
        try TestServer.shared.connect(to: held.url).execute(
            script: "ALTER TABLE pro_user RENAME COLUMN email TO gone", name: "break")
        #expect(
            try await names(of: 2, and: 50, in: held) == ["failed", "failed"] + Self.addresses)
        held.proxy.close()
    }
}
