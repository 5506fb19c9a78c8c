import AuthCore
import AuthStorage
import StrictJSON
import Testing

@testable import Provisioning

@Suite struct FeedReaderTests {
    private func filled(_ count: Int) async throws -> Stores {
        let stores = try Database.openInMemory()
        for number in 1...count {
            let address = try #require(Address(parsing: "user\(number)@mail.test"))
            let id = AccountID(random: [UInt8](repeating: UInt8(number), count: 16))
            let account = Account(
                id: id, address: address, credential: .password(PasswordHash(encoded: "none")),
                quota: 5, created: Instant(seconds: 1))
            _ = try await stores.accounts.insert(
                account, limit: nil,
                recording: AuditEvent(
                    .accountCreated, time: Instant(seconds: Int64(number)), actor: .operator,
                    subject: address.description))
        }
        return stores
    }

    @Test func itGoesOnAfterANumber() async throws {
        let stores = try await filled(5)
        var reader = FeedReader(stores.accountFeed, after: 2)
        #expect(try await reader.next(limit: 2).map(\.number) == [3, 4])
        #expect(try await reader.next(limit: 2).map(\.number) == [5])
        #expect(try await reader.next(limit: 2).isEmpty)
        var end = FeedReader(stores.accountFeed, after: 5)
        #expect(try await end.next(limit: 2).isEmpty)
    }

    @Test func eventsThatWereRemovedAreNotSkippedInSilence() async throws {
        let stores = try await filled(5)
        func trim(_ second: Int64) async throws {
            _ = try await stores.accountFeed.trimAccountEvents(
                before: Instant(seconds: second), limit: 99, keepingUndelivered: false)
        }
        try await trim(4)
        func first(after number: Int64) async throws -> [Int64] {
            var reader = FeedReader(stores.accountFeed, after: number)
            return try await reader.next(limit: 9).map(\.number)
        }
        await #expect(throws: FeedError.removed(after: 2, until: 3)) { try await first(after: 2) }
        #expect(try await first(after: 3) == [4, 5])
        #expect(try await first(after: 0) == [4, 5])
        try await trim(9)
        await #expect(throws: FeedError.removed(after: 3, until: 5)) { try await first(after: 3) }
        #expect(try await first(after: 5).isEmpty)
        #expect(try await first(after: 0).isEmpty)
    }

    @Test(arguments: [6, Int64.max])
    func aNumberThatWasNeverGivenIsAnError(number: Int64) async throws {
        let stores = try await filled(5)
        var reader = FeedReader(stores.accountFeed, after: number)
        await #expect(throws: FeedError.unknownNumber(number, end: 5)) {
            _ = try await reader.next(limit: 9)
        }
    }

    @Test func anEventIsOneObjectInOneLine() throws {
        let address = try #require(Address(parsing: "ada@mail.test"))
        let event = AccountEvent(
            number: 7, id: AccountEventID(random: .init(repeating: 1, count: 16)),
            kind: .quotaChanged, time: Instant(seconds: 0),
            account: AccountID(random: .init(repeating: 2, count: 16)), address: address, quota: 9)
        let domain = try #require(Domain(parsing: "mail.test"))
        let bytes = event.json(MailNames(subject: .localPart, firstDomain: domain))
        #expect(!bytes.contains(0x0a))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"number":7,"id":"01010101-0101-4101-8101-010101010101","#
                + #""event":"quota_changed","time":"1970-01-01T00:00:00Z","#
                + #""account_id":"02020202-0202-4202-8202-020202020202","#
                + #""address":"ada@mail.test","name":"ada","quota":9}"#)
        // Where the mail store could take it for another one, it has no name there.
        let other = try #require(Domain(parsing: "other.test"))
        let unnamed = try JSONValue.parse(
            event.json(MailNames(subject: .localPart, firstDomain: other)))
        #expect(unnamed.object?["name"] == .null)
    }
}
