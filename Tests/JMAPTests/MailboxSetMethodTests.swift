import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct MailboxSetMethodTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    private func set(_ arguments: String) async throws -> JSONValue {
        let (name, response) = try await ann.call(
            "Mailbox/set", #"{"accountId":"ann",\#(arguments)}"#)
        #expect(name == "Mailbox/set")
        return .object(response)
    }

    @Test func creationsNameOneAnotherAndUpdatesAndDestructionsFollow() async throws {
        let responses = try await ann.responses(
            ##"["Mailbox/set",{"accountId":"ann","create":{"in":{"name":"In","parentId":"#top"},"##
                + ##""top":{"name":"Top","sortOrder":7,"isSubscribed":false}}},"0"],"##
                + ##"["Mailbox/set",{"accountId":"ann","update":{"#in":{"name":"Within"},"##
                + ##""#top":{"isSubscribed":null,"sortOrder":null}}},"1"],"##
                + ##"["Mailbox/get",{"accountId":"ann","ids":["#in","#top"]},"2"],"##
                + ##"["Mailbox/set",{"accountId":"ann","destroy":["#in"]},"3"]"##)
        let created = try #require(responses[0].value["created"])
        let top = created["top", "id"], inner = created["in", "id"]
        #expect(created["in", "parentId"] == top && created["top", "sortOrder"] == .integer(7))
        #expect(created["top", "myRights", "mayDelete"] == .bool(true))
        let id = try #require(inner?.string)
        #expect(responses[1].value["updated", id] == .null)
        let list = try #require(responses[2].value["list"])
        #expect(list["0", "sortOrder"] == .integer(0) || list["1", "sortOrder"] == .integer(0))
        #expect(list.array?.contains { $0["name"] == .string("Within") } == true)
        #expect(responses[3].value["destroyed"] == .array([.string(id)]))
        #expect(responses[3].value["notDestroyed"] == .null)
        #expect(responses[3].value["oldState"] == responses[1].value["newState"])
    }

    @Test(arguments: [
        (#"{"parentId":null}"#, ["name"]), (#"{"name":1}"#, ["name"]), (#"{"name":""}"#, ["name"]),
        (#"{"name":"Inbox"}"#, ["name"]), (#"{"name":"a\u0000"}"#, ["name"]),
        (#"{"name":"A","parentId":"x"}"#, ["parentId"]),
        (##"{"name":"A","parentId":"#k"}"##, ["parentId"]),
        (#"{"name":"A","role":"inbox"}"#, ["role"]),
        (#"{"name":"A","sortOrder":-1}"#, ["sortOrder"]),
        (#"{"name":"A","sortOrder":1.5}"#, ["sortOrder"]),
        (#"{"name":"A","isSubscribed":1}"#, ["isSubscribed"]),
        (#"{"name":"A","id":"x","totalEmails":1,"y":2}"#, ["id", "totalEmails", "y"]),
    ])
    func anInvalidMailboxIsNotCreated(_ draft: String, _ properties: [String]) async throws {
        let response = try await set(#""create":{"k":\#(draft)}"#)
        #expect(response["created"] == .null)
        #expect(response["notCreated", "k", "type"] == .string("invalidProperties"))
        #expect(response["notCreated", "k", "properties"] == .strings(properties))
        #expect(response["oldState"] == response["newState"])
    }

    @Test(arguments: [
        (#"{"name":"Sent"}"#, "invalidProperties"), (#"{"name":null}"#, "invalidProperties"),
        (#"{"role":"sent"}"#, "invalidProperties"), (#"{"totalEmails":1}"#, "invalidProperties"),
        (#"{"myRights/mayDelete":false}"#, "invalidProperties"), (#"{"x":1}"#, "invalidProperties"),
        (#"{"name/x":1}"#, "invalidPatch"), (#"{"a/b/c":1}"#, "invalidPatch"),
        ("1", "invalidPatch"),
        (#"{"parentId":"SELF"}"#, "invalidProperties"),
        (#"{"role":"inbox","totalEmails":0,"name":"Post"}"#, nil),
        (#"{"parentId":null,"isSubscribed":true}"#, nil),
    ])
    func aPatchChangesWhatMayBeChanged(_ patch: String, _ type: String?) async throws {
        let inbox = ann.folder(.inbox)
        let response = try await set(
            #""update":{"\#(inbox)":\#(patch.replacing("SELF", with: inbox))}"#)
        #expect(response["notUpdated", inbox, "type"]?.string == type)
        #expect((response["updated", inbox] == .null) == (type == nil))
    }

    @Test func aMailboxWithChildOrMessagesIsDestroyedOnlyWhenToldSo() async throws {
        let created = try await set(
            ##""create":{"a":{"name":"A"},"b":{"name":"B","parentId":"#a"}}"##)
        let outer = created["created", "a", "id"]?.string ?? ""
        let inner = created["created", "b", "id"]?.string ?? ""
        let inbox = ann.folder(.inbox)
        let message = try ann.add("Subject: a\n\nb").id
        let first = try await set(#""destroy":["\#(outer)","\#(inbox)","x"]"#)
        #expect(first["notDestroyed", outer, "type"] == .string("mailboxHasChild"))
        #expect(first["notDestroyed", inbox, "type"] == .string("forbidden"))
        #expect(first["notDestroyed", "x", "type"] == .string("notFound"))
        _ = try await ann.call(
            "Email/set",
            #"{"accountId":"ann","update":{"\#(message)":{"mailboxIds":{"\#(inner)":true}}}}"#)
        let second = try await set(#""destroy":["\#(inner)"]"#)
        #expect(second["notDestroyed", inner, "type"] == .string("mailboxHasEmail"))
        let third = try await set(
            #""onDestroyRemoveEmails":true,"destroy":["\#(inner)","\#(outer)"]"#)
        #expect(third["destroyed"] == .strings([inner, outer]))
        #expect(ann.mail.emails([message]).list.isEmpty)
    }

    @Test func whatIsDestroyedInTheSameCallIsNotUpdated() async throws {
        let id = try await set(#""create":{"a":{"name":"A"}}"#)["created", "a", "id"]?.string ?? ""
        let response = try await set(#""update":{"\#(id)":{"name":"B"}},"destroy":["\#(id)"]"#)
        #expect(response["notUpdated", id, "type"] == .string("willDestroy"))
        #expect(response["destroyed"] == .strings([id]))
    }

    @Test(arguments: [
        (#"{"accountId":"ann","ifInState":"x"}"#, "stateMismatch"),
        (#"{"accountId":"bob"}"#, "accountNotFound"),
        (#"{"accountId":"ann","create":[]}"#, "invalidArguments"),
        (#"{"accountId":"ann","destroy":"x"}"#, "invalidArguments"),
        (#"{"accountId":"ann","y":1}"#, "invalidArguments"),
    ])
    func aWrongCallHasItsError(_ arguments: String, _ type: String) async throws {
        #expect(try await ann.error("Mailbox/set", arguments) == type)
    }

    @Test(arguments: ["Mailbox/set", "Email/set", "EmailSubmission/set"])
    func aCallHasAtMostTheObjectsOfTheLimit(_ method: String) async throws {
        let ids = (0...Arguments.maxObjects).map { #""x\#($0)""# }
        let many = ids.joined(separator: ","), fewer = ids.dropLast().joined(separator: ",")
        #expect(
            try await ann.error(method, #"{"accountId":"ann","destroy":[\#(many)]}"#)
                == "requestTooLarge")
        #expect(
            try await ann.error(method, #"{"accountId":"ann","destroy":[\#(fewer)]}"#) == nil)
    }
}
