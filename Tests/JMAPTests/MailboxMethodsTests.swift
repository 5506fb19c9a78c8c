import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct MailboxMethodsTests {
    private let client = Client()

    private func ids(_ filter: String, more: String = "") async throws -> [String] {
        let (_, response) = try await client.call(
            "Mailbox/query", #"{"accountId":"a","filter":\#(filter)\#(more)}"#)
        return response["ids"]?.strings ?? []
    }

    private func roles(_ ids: [String]) -> [String] {
        let folders = client.mail.folders().list
        return ids.map { id in folders.first { $0.id == id }?.role?.rawValue ?? "?" }
    }

    @Test func aNewAccountHasItsFoldersWithTheirRoles() async throws {
        let (name, response) = try await client.call(
            "Mailbox/get", #"{"accountId":"a","ids":null}"#)
        #expect(name == "Mailbox/get")
        let list = response["list"]?.array ?? []
        #expect(
            list.compactMap { $0.object?["role"]?.string } == [
                "inbox", "drafts", "sent", "archive", "junk", "trash",
            ])
        let inbox = try #require(list.first?.object)
        #expect(
            inbox.members.map(\.name) == [
                "id", "name", "parentId", "role", "sortOrder", "totalEmails", "unreadEmails",
                "totalThreads", "unreadThreads", "myRights", "isSubscribed",
            ])
        #expect(inbox["parentId"] == .null)
        #expect(inbox["myRights"]?.object?["mayDelete"] == .bool(false))
        #expect(response["notFound"] == .array([]))
        #expect(response["state"]?.string == client.mail.states[.mailbox])
    }

    @Test func onlyTheNamedPropertiesAndTheIDAreReturned() async throws {
        let inbox = client.mail.folders().list[0].id
        let (_, response) = try await client.call(
            "Mailbox/get",
            #"{"accountId":"a","ids":["\#(inbox)","x","\#(inbox)"],"properties":["name"]}"#)
        #expect(
            response["list"]
                == .array([
                    .object(
                        JSONObject(members: [
                            .init("id", .string(inbox)), .init("name", .string("Inbox")),
                        ]))
                ]))
        #expect(response["notFound"] == .strings(["x"]))
    }

    @Test(arguments: [
        (#"{"role":"inbox"}"#, ["inbox"]), (#"{"role":"nobody"}"#, []),
        (#"{"role":null}"#, []), (#"{"name":"RA"}"#, ["drafts", "trash"]),
        (#"{"hasAnyRole":true,"name":"junk"}"#, ["junk"]), (#"{"isSubscribed":false}"#, []),
        (#"{"operator":"OR","conditions":[{"role":"sent"},{"role":"trash"}]}"#, ["sent", "trash"]),
        (
            #"{"operator":"NOT","conditions":[{"name":"r"},{"role":"inbox"}]}"#,
            ["sent", "junk"]
        ),
        (#"{"parentId":null,"role":"archive"}"#, ["archive"]), (#"{"parentId":"x"}"#, []),
    ])
    func aQueryHasTheFoldersThatMatch(_ filter: String, _ expected: [String]) async throws {
        #expect(Set(roles(try await ids(filter))) == Set(expected))
    }

    @Test func aQueryIsSortedAndCut() async throws {
        let sorted = try await ids(
            "null", more: #","sort":[{"property":"name","isAscending":false}],"limit":2"#)
        #expect(roles(sorted) == ["trash", "sent"])
        let rest = try await ids(
            "{}", more: #","sort":[{"property":"name"}],"anchor":"\#(sorted[1])","limit":9"#)
        #expect(roles(rest) == ["sent", "trash"])
    }

    @Test(arguments: [
        ("Mailbox/get", #"{"accountId":"b","ids":null}"#, "accountNotFound"),
        ("Mailbox/get", #"{"ids":null}"#, "invalidArguments"),
        ("Mailbox/get", #"{"accountId":"a","ids":"x"}"#, "invalidArguments"),
        ("Mailbox/get", #"{"accountId":"a","ids":[1]}"#, "invalidArguments"),
        ("Mailbox/get", #"{"accountId":"a","properties":["x"]}"#, "invalidArguments"),
        ("Mailbox/get", #"{"accountId":"a","x":1}"#, "invalidArguments"),
        ("Mailbox/changes", #"{"accountId":"a"}"#, "invalidArguments"),
        ("Mailbox/changes", #"{"accountId":"a","sinceState":"x"}"#, "cannotCalculateChanges"),
        (
            "Mailbox/changes", #"{"accountId":"a","sinceState":"x","maxChanges":0}"#,
            "invalidArguments"
        ),
        ("Mailbox/query", #"{"accountId":"a","filter":[]}"#, "invalidArguments"),
        ("Mailbox/query", #"{"accountId":"a","filter":{"x":1}}"#, "unsupportedFilter"),
        ("Mailbox/query", #"{"accountId":"a","filter":{"role":1}}"#, "invalidArguments"),
        (
            "Mailbox/query", #"{"accountId":"a","filter":{"operator":"XOR","conditions":[]}}"#,
            "invalidArguments"
        ),
        ("Mailbox/query", #"{"accountId":"a","sort":[{"property":"x"}]}"#, "unsupportedSort"),
        ("Mailbox/query", #"{"accountId":"a","sort":[{}]}"#, "invalidArguments"),
        (
            "Mailbox/query", #"{"accountId":"a","sort":[{"property":"name","collation":"x"}]}"#,
            "unsupportedSort"
        ),
        ("Mailbox/query", #"{"accountId":"a","anchor":"x"}"#, "anchorNotFound"),
        ("Mailbox/query", #"{"accountId":"a","limit":-1}"#, "invalidArguments"),
        ("Mailbox/query", #"{"accountId":"a","position":1.5}"#, "invalidArguments"),
        (
            "Mailbox/query", #"{"accountId":"a","position":9007199254740992}"#, "invalidArguments"
        ),
        (
            "Mailbox/queryChanges", #"{"accountId":"a","sinceQueryState":"x"}"#,
            "cannotCalculateChanges"
        ),
        ("Thread/get", #"{"accountId":"a","ids":null}"#, "requestTooLarge"),
        ("Identity/get", #"{"accountId":"b"}"#, "accountNotFound"),
    ])
    func aWrongCallHasItsError(
        _ name: String, _ arguments: String, _ type: String
    ) async throws {
        #expect(try await client.error(name, arguments) == type)
    }

    @Test(arguments: [
        ("Mailbox/get", "ids"), ("Thread/get", "ids"), ("Email/get", "ids"),
        ("Identity/get", "ids"), ("EmailSubmission/get", "ids"), ("Blob/get", "ids"),
        ("SearchSnippet/get", "emailIds"), ("Email/parse", "blobIds"),
    ])
    func moreIDsThanTheLimitAreTooMany(_ name: String, _ argument: String) async throws {
        let ids = (0...Arguments.maxObjects).map { #""\#($0)""# }
        let all = ids.joined(separator: ","), fewer = ids.dropLast().joined(separator: ",")
        #expect(
            try await client.error(name, #"{"accountId":"a","\#(argument)":[\#(all)]}"#)
                == "requestTooLarge")
        #expect(
            try await client.error(name, #"{"accountId":"a","\#(argument)":[\#(fewer)]}"#) == nil)
    }

    @Test(arguments: [("Email/import", "emails"), ("Blob/upload", "create")])
    func moreObjectsThanTheLimitAreTooMany(_ name: String, _ argument: String) async throws {
        let objects = (0...Arguments.maxObjects).map { #""k\#($0)":{}"# }
        let all = objects.joined(separator: ","), fewer = objects.dropLast().joined(separator: ",")
        #expect(
            try await client.error(name, #"{"accountId":"a","\#(argument)":{\#(all)}}"#)
                == "requestTooLarge")
        #expect(
            try await client.error(name, #"{"accountId":"a","\#(argument)":{\#(fewer)}}"#) == nil)
    }

    @Test func moreFoldersThanTheLimitAreNotReturnedTogether() async throws {
        func add(_ names: Range<Int>) throws {
            var set = FolderSet()
            set.create = names.map { ("k\($0)", FolderDraft(name: "f\($0)")) }
            _ = try client.mail.setFolders(set)
        }
        let all = #"{"accountId":"a","ids":null,"properties":["id"]}"#
        try add(0..<(Arguments.maxObjects - client.mail.folders().list.count))
        let (_, response) = try await client.call("Mailbox/get", all)
        #expect(response["list"]?.array?.count == Arguments.maxObjects)
        try add(Arguments.maxObjects..<(Arguments.maxObjects + 1))
        #expect(try await client.error("Mailbox/get", all) == "requestTooLarge")
    }

    @Test func changesSayWhatIsNewSinceAState() async throws {
        let before = client.mail.states[.mailbox]
        var set = FolderSet()
        set.create = [("k", FolderDraft(name: "Work"))]
        _ = try client.mail.setFolders(set)
        let (_, changes) = try await client.call(
            "Mailbox/changes", #"{"accountId":"a","sinceState":"\#(before)"}"#)
        let work = client.mail.folders().list.first { $0.name == "Work" }
        #expect(changes["created"] == .strings([work?.id ?? ""]))
        #expect(changes["updated"] == .array([]))
        #expect(changes["updatedProperties"] == .null)
        #expect(changes["newState"]?.string == client.mail.states[.mailbox])
    }

    @Test func theOneIdentityHasTheAddressOfTheAccount() async throws {
        let (_, response) = try await client.call("Identity/get", #"{"accountId":"a"}"#)
        let identity = response["list"]?.array?.first?.object
        #expect(identity?["email"] == .string("ada@example.org"))
        #expect(identity?["mayDelete"] == .bool(false))
    }
}
