import LocalMail
import StrictJSON
import Testing

@testable import JMAP

/// Requests that an event loop may answer by itself.
@Suite struct BriefRequestsTests {
    private let site: MailSite
    private let inbox: String
    private let email: CreatedEmail

    init() throws {
        site = try MailSite()
        inbox = site.ann.folder(.inbox)
        _ = try site.ann.add("From: Bob <bob@here.test>\nSubject: one\n\nText.\n")
        email = try site.ann.add("From: Bob <bob@here.test>\nSubject: two\n\nText.\n")
    }

    /// - Parameter calls: names and arguments without `accountId`, with `I` for the inbox and `E`
    ///   for a message.
    private func request(_ calls: [(String, String)]) throws -> JMAPRequest {
        let using = JMAPLimits.capabilities.sorted().map { "\"\($0)\"" }.joined(separator: ",")
        let calls = calls.enumerated().map { number, call in
            let arguments = call.1.replacing("\"I\"", with: "\"\(inbox)\"")
                .replacing("\"E\"", with: "\"\(email.id)\"")
            let more = arguments.isEmpty ? "" : ",\(arguments)"
            return #"["\#(call.0)",{"accountId":"ann"\#(more)},"\#(number)"]"#
        }
        let body = #"{"using":[\#(using)],"methodCalls":[\#(calls.joined(separator: ","))]}"#
        return try JMAPRequest(Array(body.utf8), limits: JMAPLimits())
    }

    private func brief(_ calls: (String, String)...) async throws -> [UInt8]? {
        await Dispatcher().respondBriefly(
            to: try request(calls), for: site.ann.mail, sessionState: "s")
    }

    @Test(arguments: [
        ("Core/echo", #""a":1"#), ("Mailbox/get", #""ids":null"#), ("Mailbox/get", #""x":1"#),
        ("Email/query", #""limit":20"#), ("Email/query", #""limit":0,"position":1000"#),
        ("Email/query", #""filter":{"inMailbox":"I"},"limit":1000,"calculateTotal":true"#),
        ("Email/query", #""sort":[{"property":"receivedAt"}],"limit":20"#),
        ("Email/get", #""ids":["E"],"properties":["subject","from","preview","keywords"]"#),
        ("Email/get", #""ids":null,"properties":["id"]"#), ("Email/changes", #""sinceState":"x""#),
    ])
    func theAnswerIsThatOfAnyRequest(name: String, arguments: String) async throws {
        let answer = try await brief((name, arguments))
        let expected = await Dispatcher().respond(
            to: try request([(name, arguments)]), for: site.ann.mail, sessionState: "s")
        #expect(answer == expected)
    }

    @Test func aListIsFoundAndReadInOneRequest() async throws {
        let answer = try await brief(
            ("Email/query", #""filter":{"inMailbox":"I"},"limit":1"#),
            (
                "Email/get",
                ##""#ids":{"resultOf":"0","name":"Email/query","path":"/ids"},"##
                    + #""properties":["subject"]"#
            ))
        let value = try JSONValue.parse(try #require(answer))
        #expect(value["methodResponses", "1", "1", "list", "0", "subject"] == .string("two"))
    }

    @Test(arguments: [
        ("Email/query", ""), ("Email/query", #""limit":1001"#),
        ("Email/query", #""limit":1,"position":1000"#),
        ("Email/query", #""limit":1,"position":-1"#),
        ("Email/query", #""limit":1,"anchor":"E""#),
        ("Email/query", #""limit":1,"collapseThreads":true"#),
        ("Email/query", #""limit":1,"sort":[{"property":"subject"}]"#),
        ("Email/query", #""limit":1,"filter":{"subject":"two"}"#),
        ("Email/query", #""limit":1,"filter":{"inMailbox":"I","hasKeyword":"$seen"}"#),
        ("Email/get", #""ids":["E"]"#), ("Email/get", #""ids":["E"],"properties":["sentAt"]"#),
        ("Email/get", #""ids":["E"],"properties":["bodyValues"]"#),
        ("Email/queryChanges", #""sinceQueryState":"x""#),
        ("Mailbox/query", #""filter":{"operator":"OR","conditions":[]}"#),
        (
            "Mailbox/queryChanges",
            #""sinceQueryState":"x","filter":{"operator":"NOT","conditions":[]}"#
        ),
        ("EmailSubmission/query", #""filter":{"operator":"AND","conditions":[{}]}"#),
        ("Email/set", #""destroy":["E"]"#), ("Nothing/get", ""),
    ])
    func whatMayTakeLongIsNotDone(name: String, arguments: String) async throws {
        #expect(try await brief(("Mailbox/get", ""), (name, arguments)) == nil)
        #expect(site.ann.mail.emails([email.id]).0.count == 1)
    }

    /// What is cheap once is not when it is asked for often, or of many.
    @Test(arguments: [
        (#""ids":[]"#, 6, true), (#""ids":[]"#, 7, false), (#""ids":null"#, 1, false),
    ])
    func manyFoldersAreNotLookedAtOften(
        arguments: String, calls: Int, isAnswered: Bool
    ) async throws {
        let folders = (0..<300).map { #""\#($0)":{"name":"a folder \#($0)"}"# }
        _ = try await site.ann.call(
            "Mailbox/set", #"{"accountId":"ann","create":{\#(folders.joined(separator: ","))}}"#)
        let request = try request(Array(repeating: ("Mailbox/get", arguments), count: calls))
        let answer = await Dispatcher().respondBriefly(
            to: request, for: site.ann.mail, sessionState: "s")
        #expect((answer != nil) == isAnswered)
        let sort = (0..<6).map { _ in #"{"property":"name"}"# }.joined(separator: ",")
        #expect(try await brief(("Mailbox/query", #""sort":[\#(sort)]"#)) == nil)
    }

    @Test func whatIsLongIsNotSent() async throws {
        let subject = String(repeating: "long ", count: 1_000)
        for _ in 0..<40 { _ = try site.ann.add("Subject: \(subject)\n\nText.\n") }
        let read = #""ids":null,"properties":["subject"]"#
        let isRead = try await brief(("Email/get", read)) != nil
        #expect(!isRead)
        // The same text thirty times.
        let reference = #"{"resultOf":"0","name":"Core/echo","path":"/a"}"#
        let all = (0..<30).map { ##""#\##($0)":\##(reference)"## }.joined(separator: ",")
        let isAnswered =
            try await brief(("Core/echo", #""a":"\#(subject)""#), ("Core/echo", all)) != nil
        #expect(!isAnswered)
    }
}
