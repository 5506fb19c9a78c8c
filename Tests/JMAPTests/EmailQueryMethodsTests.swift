import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct EmailQueryMethodsTests {
    private let client = Client()
    private let inbox: String
    private let ids: [String]

    /// Three messages, in the order of their dates, of 10, 20 and 30 bytes. The second is read.
    init() throws {
        inbox = client.mail.folders().list[0].id
        var set = EmailSet()
        for number in 1...3 {
            var draft = EmailDraft(
                .bytes([UInt8](repeating: 0x78, count: number * 10)), folderIDs: [inbox],
                keywords: number == 2 ? ["$seen"] : [])
            draft.receivedAt = MailInstant(utcDate: "2026-01-0\(number)T00:00:00Z")
            set.create.append(("\(number)", draft))
        }
        let result = try client.mail.setEmails(set)
        ids = try result.created.map { try $0.result.get().id }
    }

    private func found(_ filter: String, more: String = "") async throws -> [Int] {
        let (name, response) = try await client.call(
            "Email/query", #"{"accountId":"a","filter":\#(filter)\#(more)}"#)
        #expect(name == "Email/query")
        return (response["ids"]?.strings ?? []).map { (ids.firstIndex(of: $0) ?? -1) + 1 }
    }

    @Test(arguments: [
        ("null", [3, 2, 1]), ("{}", [3, 2, 1]), (#"{"inMailbox":"x"}"#, []),
        (#"{"after":"2026-01-02T00:00:00Z"}"#, [3, 2]),
        (#"{"before":"2026-01-02T00:00:00.001Z"}"#, [2, 1]),
        (#"{"minSize":20,"maxSize":30}"#, [2]), (#"{"hasKeyword":"$seen"}"#, [2]),
        (#"{"notKeyword":"$SEEN"}"#, [3, 1]), (#"{"hasAttachment":true}"#, []),
        (#"{"operator":"NOT","conditions":[{"minSize":20},{"hasKeyword":"$draft"}]}"#, [1]),
        (#"{"operator":"OR","conditions":[{"minSize":30},{"maxSize":20}]}"#, [3, 1]),
        (#"{"from":"nobody"}"#, []), (#"{"header":["X-A"]}"#, []),
        (#"{"inMailboxOtherThan":["x"]}"#, [3, 2, 1]),
        (#"{"someInThreadHaveKeyword":"$seen"}"#, [2]),
    ])
    func aFilterHasTheMessagesThatMatch(_ filter: String, _ expected: [Int]) async throws {
        #expect(try await found(filter) == expected)
    }

    @Test func resultsAreSortedCutAndCounted() async throws {
        let sort = #","sort":[{"property":"size"}],"position":1,"limit":1,"calculateTotal":true"#
        #expect(try await found(#"{"inMailbox":"\#(inbox)"}"#, more: sort) == [2])
        let keyword =
            #","sort":[{"property":"hasKeyword","keyword":"$seen","isAscending":false},"#
            + #"{"property":"receivedAt","isAscending":false}]"#
        #expect(try await found("{}", more: keyword) == [2, 3, 1])
        let (_, response) = try await client.call(
            "Email/query", #"{"accountId":"a","filter":{}\#(sort)}"#)
        #expect(response["total"] == .integer(3))
        #expect(response["position"] == .integer(1))
        #expect(response["canCalculateChanges"] == .bool(true))
    }

    @Test func changesOfAQuerySayWhatIsGoneAndWhatIsNew() async throws {
        let (_, before) = try await client.call("Email/query", #"{"accountId":"a"}"#)
        var set = EmailSet()
        set.destroy = [ids[2]]
        _ = try client.mail.setEmails(set)
        let state = try #require(before["queryState"]?.string)
        let (_, changes) = try await client.call(
            "Email/queryChanges", #"{"accountId":"a","sinceQueryState":"\#(state)"}"#)
        #expect(changes["removed"] == .strings([ids[2]]))
        #expect(changes["added"] == .array([]))
        #expect(changes["oldQueryState"] == .string(state))
    }

    @Test(arguments: [
        (#"{"accountId":"a","filter":{"before":"2026-01-02"}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"before":"2026-02-30T00:00:00Z"}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"before":"2026-01-02T00:00:00.Z"}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"minSize":-1}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"minSize":1.0}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"header":[]}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"inMailbox":null}}"#, "invalidArguments"),
        (#"{"accountId":"a","filter":{"unknown":1}}"#, "unsupportedFilter"),
        (#"{"accountId":"a","sort":[{"property":"hasKeyword"}]}"#, "unsupportedSort"),
        (#"{"accountId":"a","sort":[{"property":"id"}]}"#, "unsupportedSort"),
        (#"{"accountId":"a","collapseThreads":1}"#, "invalidArguments"),
        (#"{"accountId":"b"}"#, "accountNotFound"),
    ])
    func aWrongQueryHasItsError(_ arguments: String, _ type: String) async throws {
        #expect(try await client.error("Email/query", arguments) == type)
    }

    @Test(arguments: [
        ("2026-01-15T10:30:00Z", "2026-01-15T10:30:00Z"),
        ("2026-01-15T10:30:00.5Z", "2026-01-15T10:30:00.500Z"),
        ("2026-01-15T10:30:00.0009Z", "2026-01-15T10:30:00Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ])
    func aDateIsReadAndWritten(_ text: String, _ written: String) throws {
        #expect(try #require(MailInstant(utcDate: text)).utcDate == written)
    }
}
