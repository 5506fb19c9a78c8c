import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct EmailSetMethodsTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    private func update(_ id: String, _ patch: String) async throws -> JSONValue {
        let (_, response) = try await ann.call(
            "Email/set", #"{"accountId":"ann","update":{"\#(id)":\#(patch)}}"#)
        return .object(response)
    }

    @Test(arguments: [
        (#"{"keywords/$seen":true}"#, ["$draft", "$seen"]), (#"{"keywords/$draft":null}"#, []),
        (#"{"keywords":{"$Flagged":true}}"#, ["$flagged"]), (#"{"keywords":null}"#, []),
        (#"{"keywords/$seen":true,"keywords/$draft":null}"#, ["$seen"]),
        (#"{"keywords/a~1b":true}"#, ["$draft", "a/b"]), (#"{"keywords/$gone":null}"#, ["$draft"]),
        (#"{"subject":"s","size":SIZE,"keywords/x":true}"#, ["$draft", "x"]),
    ])
    func aPatchChangesKeywords(_ patch: String, _ keywords: [String]) async throws {
        let email = try ann.add("Subject: s\n\nx", keywords: ["$draft"])
        let response = try await update(
            email.id, patch.replacing("SIZE", with: "\(email.size)"))
        #expect(response["updated", email.id] == .null)
        #expect(response["notUpdated"] == .null)
        #expect(ann.mail.emails([email.id]).list[0].keywords == keywords)
    }

    @Test func aPatchMovesAMessage() async throws {
        let id = try ann.add("Subject: s\n\nx").id
        let (inbox, sent, trash) = (ann.folder(.inbox), ann.folder(.sent), ann.folder(.trash))
        _ = try await update(id, #"{"mailboxIds/\#(inbox)":null,"mailboxIds/\#(sent)":true}"#)
        #expect(ann.mail.emails([id]).list[0].folderIDs == [sent])
        _ = try await update(id, #"{"mailboxIds":{"\#(trash)":true,"\#(inbox)":true}}"#)
        #expect(Set(ann.mail.emails([id]).list[0].folderIDs) == [inbox, trash])
    }

    @Test(arguments: [
        (#"{"keywords/a b":true}"#, "invalidProperties"),
        (#"{"keywords":[]}"#, "invalidProperties"),
        (#"{"keywords":{"a":false}}"#, "invalidProperties"),
        (#"{"keywords/a":false}"#, "invalidProperties"),
        (#"{"keywords/a":1}"#, "invalidProperties"), (#"{"mailboxIds":{}}"#, "invalidProperties"),
        (#"{"mailboxIds":{"x":true}}"#, "invalidProperties"),
        (#"{"mailboxIds":null}"#, "invalidProperties"),
        (#"{"mailboxIds/x":true}"#, "invalidProperties"),
        (#"{"subject":"other"}"#, "invalidProperties"), (#"{"y":1}"#, "invalidProperties"),
        (#"{"from/0":null}"#, "invalidProperties"),
        (#"{"keywords":{},"keywords/a":true}"#, "invalidPatch"),
        (#"{"keywords/a/b":true}"#, "invalidPatch"),
        (#"{"keywords/a~1b":true,"keywords/a~1b~":true}"#, nil),
        (#"{"":1}"#, "invalidProperties"), ("null", "invalidPatch"), ("{}", nil),
    ])
    func aWrongPatchChangesNothing(_ patch: String, _ type: String?) async throws {
        let id = try ann.add("Subject: s\n\nx", keywords: ["$draft"]).id
        let response = try await update(id, patch)
        #expect(response["notUpdated", id, "type"]?.string == type)
        if type != nil { #expect(response["oldState"] == response["newState"]) }
    }

    @Test func manyKeywordsAreTooMany() async throws {
        let id = try ann.add("Subject: s\n\nx").id
        let many = (0...100).map { #""keywords/k\#($0)":true"# }.joined(separator: ",")
        let response = try await update(id, "{\(many)}")
        #expect(response["notUpdated", id, "type"] == .string("tooManyKeywords"))
    }

    @Test func whatIsDestroyedIsGoneAndNotUpdated() async throws {
        let id = try ann.add("Subject: s\n\nx").id
        let (_, response) = try await ann.call(
            "Email/set",
            #"{"accountId":"ann","update":{"\#(id)":{"keywords/a":true},"x":{"subject":"s"}},"#
                + #""destroy":["\#(id)","x"]}"#)
        #expect(response["notUpdated"]?[id, "type"] == .string("willDestroy"))
        #expect(response["notUpdated"]?["x", "type"] == .string("notFound"))
        #expect(response["destroyed"] == .strings([id]))
        #expect(response["notDestroyed"]?["x", "type"] == .string("notFound"))
        #expect(ann.mail.emails([id]).list.isEmpty)
    }

    @Test(arguments: [
        (#"{"accountId":"ann","ifInState":"x","create":{}}"#, "stateMismatch"),
        (#"{"accountId":"bob"}"#, "accountNotFound"),
        (#"{"accountId":"ann","update":[]}"#, "invalidArguments"),
        (#"{"accountId":"ann","onDestroyRemoveEmails":true}"#, "invalidArguments"),
    ])
    func aWrongCallHasItsError(_ arguments: String, _ type: String) async throws {
        #expect(try await ann.error("Email/set", arguments) == type)
    }

    // MARK: Import

    @Test func aBlobIsImported() async throws {
        let text = "Received: x; Mon, 2 Jan 2023 03:04:05 +0200\r\nSubject: a\r\n\r\nb"
        let blob = try ann.upload(text)
        let inbox = ann.folder(.inbox)
        let responses = try await ann.responses(
            ##"["Email/import",{"accountId":"ann","emails":{"k":{"blobId":"\##(blob)","##
                + ##""mailboxIds":{"\##(inbox)":true},"keywords":{"$seen":true}},"##
                + ##""l":{"blobId":"\##(blob)","mailboxIds":{"\##(inbox)":true},"##
                + ##""receivedAt":"2020-01-01T00:00:00Z"}}},"0"],"##
                + ##"["Email/get",{"accountId":"ann","ids":["#k","#l"],"##
                + ##""properties":["receivedAt","keywords","subject"]},"1"]"##)
        #expect(responses[0].value["created", "k", "size"] == .integer(Int64(text.utf8.count)))
        #expect(responses[0].value["updated"] == nil)
        let list = try #require(responses[1].value["list"])
        #expect(list["0", "receivedAt"] == .string("2023-01-02T01:04:05Z"))
        #expect(list["0", "keywords", "$seen"] == .bool(true))
        #expect(list["1", "receivedAt"] == .string("2020-01-01T00:00:00Z"))
        #expect(list["1", "subject"] == .string("a"))
    }

    @Test func anAttachedMessageIsImported() async throws {
        let id = try ann.add("Content-Type: message/rfc822\n\nSubject: in\n\nx").id
        let part = try await ann.get(id, ["bodyStructure"])["bodyStructure"]?["blobId"]?.string
        let (_, response) = try await ann.call(
            "Email/import",
            #"{"accountId":"ann","emails":{"k":{"blobId":"\#(part ?? "")","#
                + #""mailboxIds":{"\#(ann.folder(.inbox))":true}}}}"#)
        let created = try #require(response["created"]?["k", "id"]?.string)
        #expect(try await ann.get(created, ["subject"])["subject"] == .string("in"))
    }

    @Test(arguments: [
        (#"{"blobId":"x","mailboxIds":{"IN":true}}"#, ["blobId"]),
        (#"{"blobId":"BLOB","mailboxIds":[]}"#, ["mailboxIds"]),
        (#"{"blobId":"BLOB","mailboxIds":{}}"#, ["mailboxIds"]),
        (#"{"blobId":"BLOB","mailboxIds":{"x":true}}"#, ["mailboxIds"]),
        (#"{"blobId":"BLOB","mailboxIds":{"IN":true},"keywords":1}"#, ["keywords"]),
        (#"{"blobId":"BLOB","mailboxIds":{"IN":true},"keywords":{"(":true}}"#, ["keywords"]),
        (#"{"blobId":"BLOB","mailboxIds":{"IN":true},"receivedAt":"x"}"#, ["receivedAt"]),
        (#"{"y":1}"#, ["y", "blobId", "mailboxIds"]), ("1", []),
    ])
    func anInvalidImportIsRefused(_ item: String, _ properties: [String]) async throws {
        let blob = try ann.upload("Subject: a\r\n\r\nb")
        let item = item.replacing("BLOB", with: blob).replacing("IN", with: ann.folder(.inbox))
        let (_, response) = try await ann.call(
            "Email/import", #"{"accountId":"ann","emails":{"k":\#(item)}}"#)
        #expect(response["notCreated"]?["k", "type"] == .string("invalidProperties"))
        #expect(response["notCreated"]?["k", "properties"] == .strings(properties))
    }

    @Test func whatIsNoMessageIsNotImported() async throws {
        let blob = try ann.upload("no message")
        let (_, response) = try await ann.call(
            "Email/import",
            #"{"accountId":"ann","emails":{"k":{"blobId":"\#(blob)","#
                + #""mailboxIds":{"\#(ann.folder(.inbox))":true}}}}"#)
        #expect(response["notCreated"]?["k", "type"] == .string("invalidEmail"))
        #expect(
            try await ann.error("Email/import", #"{"accountId":"ann"}"#) == "invalidArguments")
        #expect(
            try await ann.error(
                "Email/import", #"{"accountId":"ann","ifInState":"x","emails":{}}"#)
                == "stateMismatch")
    }

    @Test func aQuotaIsKept() async throws {
        let site = try MailSite(quota: 100)
        let result = try await site.ann.create(
            #""bodyValues":{"b":{"value":"\#(String(repeating: "x", count: 200))"}},"#
                + #""textBody":[{"partId":"b"}]"#)
        #expect(result.error?["type"] == .string("overQuota"))
    }
}
