import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct SubmissionMethodsTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    private func draft() throws -> String {
        try ann.add(
            "From: ann@here.test\nTo: bob@here.test\nBcc: c@x.test\nSubject: s\n\nx",
            keywords: ["$draft"]
        ).id
    }

    private func set(_ arguments: String) async throws -> JSONValue {
        .object(
            try await ann.call("EmailSubmission/set", #"{"accountId":"ann",\#(arguments)}"#).1)
    }

    @Test func theProgramOfTheDocumentsSendsAMessage() async throws {
        let inbox = ann.folder(.inbox)
        let responses = try await ann.responses(
            ##"["Email/set",{"accountId":"ann","create":{"draft1":{"mailboxIds":{"\##(inbox)":true},"##
                + ##""from":[{"email":"ann@here.test"}],"to":[{"email":"bob@here.test"}],"##
                + ##""subject":"Hello","textBody":[{"partId":"body","type":"text/plain"}],"##
                + ##""bodyValues":{"body":{"value":"This was sent."}},"keywords":{"$draft":true}}}},"s0"],"##
                + ##"["EmailSubmission/set",{"accountId":"ann","create":{"sub1":{"emailId":"#draft1","##
                + ##""envelope":{"mailFrom":{"email":"ann@here.test"},"##
                + ##""rcptTo":[{"email":"bob@here.test"}]}}}},"s1"]"##)
        #expect(responses.map(\.name) == ["Email/set", "EmailSubmission/set"])
        #expect(responses[1].value["notCreated"] == .null)
        #expect(responses[1].value["created", "sub1", "undoStatus"] == .string("final"))
        let list = try await site.bob.responses(
            ##"["Mailbox/query",{"accountId":"bob","filter":{"role":"inbox"}},"mq0"],"##
                + ##"["Email/query",{"accountId":"bob","filter":{"inMailbox":{"resultOf":"mq0","##
                + ##""name":"Mailbox/query","path":"/ids/0"}},"##
                + ##""sort":[{"property":"receivedAt","isAscending":false}],"limit":20},"q0"],"##
                + ##"["Email/get",{"accountId":"bob","#ids":{"resultOf":"q0","name":"Email/query","##
                + ##""path":"/ids"},"properties":["id","subject","from","receivedAt","preview"]},"g0"]"##
        )
        let email = try #require(list.last?.value["list", "0"])
        #expect(
            email["subject"] == .string("Hello") && email["preview"] == .string("This was sent."))
        #expect(email["from", "0", "email"] == .string("ann@here.test"))
    }

    @Test func thePresetOfTheAgentsMarksWhatItSent() async throws {
        let sent = ann.folder(.sent)
        let responses = try await ann.responses(
            ##"["Email/set",{"accountId":"ann","create":{"e1":{"mailboxIds":{"\##(sent)":true},"##
                + ##""keywords":{"$draft":true},"from":[{"email":"ann@here.test"}],"##
                + ##""to":[{"email":"bob@here.test"}],"subject":"s","##
                + ##""textBody":[{"partId":"t","type":"text/plain"}],"##
                + ##""bodyValues":{"t":{"value":"x"}}}}},"0"],"##
                + ##"["EmailSubmission/set",{"accountId":"ann","create":{"s1":{"emailId":"#e1"}},"##
                + ##""onSuccessUpdateEmail":{"#s1":{"keywords/$draft":null,"keywords/$sent":true}}},"1"],"##
                + ##"["Email/get",{"accountId":"ann","ids":["#e1"],"properties":["keywords"]},"2"]"##
        )
        #expect(
            responses.map(\.name) == ["Email/set", "EmailSubmission/set", "Email/set", "Email/get"])
        #expect(responses.map(\.callID) == ["0", "1", "1", "2"])
        let id = responses[0].value["created", "e1", "id"]?.string ?? ""
        #expect(responses[2].value["updated", id] == .null)
        #expect(responses[3].value["list", "0", "keywords"] == (try .json(#"{"$sent":true}"#)))
    }

    @Test func theMessageOfASubmissionIsDestroyedOnSuccessOnly() async throws {
        let (good, bad) = (try draft(), try draft())
        let responses = try await ann.responses(
            ##"["EmailSubmission/set",{"accountId":"ann","create":{"g":{"emailId":"\##(good)"},"##
                + ##""b":{"emailId":"\##(bad)","envelope":{"mailFrom":{"email":"bob@here.test"},"##
                + ##""rcptTo":[{"email":"bob@here.test"}]}}},"##
                + ##""onSuccessDestroyEmail":["#g","#b"]},"0"]"##)
        #expect(responses[0].value["notCreated", "b", "type"] == .string("forbiddenMailFrom"))
        #expect(responses[1].value["destroyed"] == .strings([good]))
        #expect(ann.mail.emails([good, bad]).list.map(\.id) == [bad])
    }

    @Test func aSubmissionHasItsEnvelopeAndStatus() async throws {
        let email = try draft()
        let created = try await set(#""create":{"k":{"emailId":"\#(email)","identityId":null}}"#)
        let id = try #require(created["created", "k", "id"]?.string)
        let (_, response) = try await ann.call(
            "EmailSubmission/get", #"{"accountId":"ann","ids":["\#(id)","x"]}"#)
        let submission = try #require(response["list"]?["0"])
        #expect(response["notFound"] == .strings(["x"]))
        #expect(submission["emailId"] == .string(email))
        #expect(submission["identityId"]?.string == ann.mail.identity.id)
        #expect(submission["envelope", "mailFrom", "email"] == .string("ann@here.test"))
        #expect(submission["envelope", "rcptTo"]?.array?.count == 2)
        #expect(submission["sendAt"] == .string("2023-11-14T22:13:20Z"))
        let status = submission["deliveryStatus"]
        #expect(status?["bob@here.test", "delivered"] == .string("yes"))
        #expect(status?["c@x.test", "delivered"] == .string("unknown"))
        #expect(status?["c@x.test", "displayed"] == .string("unknown"))
        #expect(submission["dsnBlobIds"] == .array([]))
        let (_, few) = try await ann.call(
            "EmailSubmission/get", #"{"accountId":"ann","properties":["undoStatus"]}"#)
        #expect(few["list"]?["0"]?.object?.members.map(\.name) == ["id", "undoStatus"])
    }

    @Test(arguments: [
        (#"{}"#, "invalidProperties", "properties"), ("1", "invalidProperties", "properties"),
        (#"{"emailId":"x"}"#, "invalidProperties", "properties"),
        (#"{"emailId":1}"#, "invalidProperties", "properties"),
        (#"{"emailId":"ID","identityId":"x"}"#, "invalidProperties", "properties"),
        (#"{"emailId":"ID","undoStatus":"final"}"#, "invalidProperties", "properties"),
        (#"{"emailId":"ID","envelope":1}"#, "invalidProperties", "properties"),
        (
            #"{"emailId":"ID","envelope":{"mailFrom":{"email":"ann@here.test","parameters":{"X":"1"}},"rcptTo":[]}}"#,
            "invalidProperties", "properties"
        ),
        (
            #"{"emailId":"ID","envelope":{"mailFrom":{"email":"ann@here.test"},"rcptTo":[]}}"#,
            "noRecipients", "type"
        ),
        (
            #"{"emailId":"ID","envelope":{"mailFrom":{"email":"ann@here.test","parameters":null},"rcptTo":[{"email":"no@here.test"}]}}"#,
            "invalidRecipients", "invalidRecipients"
        ),
        (
            #"{"emailId":"ID","envelope":{"mailFrom":{"email":"x@x.test"},"rcptTo":[{"email":"bob@here.test"}]}}"#,
            "forbiddenMailFrom", "type"
        ),
        (
            #"{"emailId":"ID","envelope":{"mailFrom":{"email":"ann@here.test"},"rcptTo":[MANY]}}"#,
            "tooManyRecipients", "maxRecipients"
        ),
        (#"{"emailId":"EMPTY"}"#, "invalidEmail", "properties"),
    ])
    func aWrongSubmissionHasItsError(
        _ object: String, _ type: String, _ member: String
    ) async throws {
        let many = (0...100).map { #"{"email":"a\#($0)@x.test"}"# }.joined(separator: ",")
        let id = try draft(), empty = try ann.add("Subject: s\n\nx").id
        let object = object.replacing("ID\"", with: "\(id)\"").replacing("EMPTY", with: empty)
            .replacing("MANY", with: many)
        let response = try await set(#""create":{"k":\#(object)}"#)
        #expect(response["notCreated", "k", "type"] == .string(type))
        #expect(response["notCreated", "k", member] != nil)
        #expect(response["oldState"] == response["newState"])
    }

    @Test func nothingIsUnsentAndASubmissionIsForgotten() async throws {
        let email = try draft()
        let created = try await set(#""create":{"k":{"emailId":"\#(email)"}}"#)
        let id = try #require(created["created", "k", "id"]?.string)
        let update = try await set(
            #""update":{"\#(id)":{"undoStatus":"canceled"},"x":{"undoStatus":"canceled"}}"#)
        #expect(update["notUpdated", id, "type"] == .string("cannotUnsend"))
        #expect(update["notUpdated", "x", "type"] == .string("notFound"))
        let same = try await set(#""update":{"\#(id)":{"undoStatus":"final"}}"#)
        #expect(same["updated", id] == .null && same["notUpdated"] == .null)
        let other = try await set(#""update":{"\#(id)":{"emailId":"x"}}"#)
        #expect(other["notUpdated", id, "properties"] == .strings(["emailId"]))
        let destroyed = try await set(#""destroy":["\#(id)","x"]"#)
        #expect(destroyed["destroyed"] == .strings([id]))
        #expect(destroyed["notDestroyed", "x", "type"] == .string("notFound"))
        let (_, changes) = try await ann.call(
            "EmailSubmission/changes",
            #"{"accountId":"ann","sinceState":"\#(destroyed["oldState"]?.string ?? "")"}"#)
        #expect(changes["destroyed"] == .strings([id]))
    }

    @Test(arguments: [
        ("null", 2), (#"{"emailIds":["E0"]}"#, 1), (#"{"undoStatus":"final"}"#, 2),
        (#"{"undoStatus":"pending"}"#, 0), (#"{"identityIds":["x"]}"#, 0),
        (#"{"threadIds":["x"]}"#, 0), (#"{"after":"2023-11-14T22:13:20Z"}"#, 2),
        (#"{"before":"2023-11-14T22:13:20Z"}"#, 0),
        (#"{"operator":"NOT","conditions":[{"emailIds":["E0"]},{"emailIds":["E1"]}]}"#, 0),
        (#"{"operator":"OR","conditions":[{"emailIds":["E0"]},{"emailIds":["E1"]}]}"#, 2),
        (#"{"emailIds":["E0"],"undoStatus":"pending"}"#, 0),
    ])
    func aQueryHasTheSubmissionsThatMatch(_ filter: String, _ count: Int) async throws {
        let emails = [try draft(), try draft()]
        let created = try await set(
            #""create":{"a":{"emailId":"\#(emails[0])"},"b":{"emailId":"\#(emails[1])"}}"#)
        #expect(created["notCreated"] == .null)
        let filter = filter.replacing("E0", with: emails[0]).replacing("E1", with: emails[1])
        let (_, response) = try await ann.call(
            "EmailSubmission/query",
            #"{"accountId":"ann","filter":\#(filter),"calculateTotal":true,"#
                + #""sort":[{"property":"sentAt"},{"property":"emailId"},{"property":"threadId"}]}"#
        )
        #expect(response["ids"]?.array?.count == count)
        #expect(response["total"] == .integer(Int64(count)))
        #expect(response["canCalculateChanges"] == .bool(false))
    }

    @Test(arguments: [
        ("EmailSubmission/query", #"{"accountId":"ann","filter":{"x":1}}"#, "unsupportedFilter"),
        (
            "EmailSubmission/query", #"{"accountId":"ann","filter":{"emailIds":1}}"#,
            "invalidArguments"
        ),
        (
            "EmailSubmission/query", #"{"accountId":"ann","filter":{"undoStatus":"x"}}"#,
            "invalidArguments"
        ),
        (
            "EmailSubmission/query", #"{"accountId":"ann","sort":[{"property":"x"}]}"#,
            "unsupportedSort"
        ),
        ("EmailSubmission/query", #"{"accountId":"ann","anchor":"x"}"#, "anchorNotFound"),
        ("EmailSubmission/queryChanges", #"{"accountId":"ann"}"#, "unknownMethod"),
        ("EmailSubmission/get", #"{"accountId":"ann","properties":["x"]}"#, "invalidArguments"),
        ("EmailSubmission/set", #"{"accountId":"ann","ifInState":"x"}"#, "stateMismatch"),
        ("EmailSubmission/set", #"{"accountId":"bob"}"#, "accountNotFound"),
        (
            "EmailSubmission/set", #"{"accountId":"ann","onSuccessUpdateEmail":[]}"#,
            "invalidArguments"
        ),
        (
            "EmailSubmission/set", #"{"accountId":"ann","onSuccessDestroyEmail":{}}"#,
            "invalidArguments"
        ),
    ])
    func aWrongCallHasItsError(_ name: String, _ arguments: String, _ type: String) async throws {
        #expect(try await ann.error(name, arguments) == type)
    }

    @Test func aFilterHasABoundedNumberOfConditionsAndOperators() async throws {
        for (count, type) in [(99, nil), (100, "unsupportedFilter")] as [(Int, String?)] {
            let many = Array(repeating: "{}", count: count).joined(separator: ",")
            let filter = #"{"operator":"AND","conditions":[\#(many)]}"#
            for method in ["EmailSubmission/query", "Email/query", "Mailbox/query"] {
                let arguments = #"{"accountId":"ann","filter":\#(filter)}"#
                #expect(try await ann.error(method, arguments) == type, "\(method) \(count)")
            }
        }
    }
}
