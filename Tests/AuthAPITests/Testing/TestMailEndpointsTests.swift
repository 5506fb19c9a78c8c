import AuthCore
import HTTPEngine
import JMAP
import LocalMail
import Networking
import Scheduling
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// `/test/messages` and `/test/mail`, with mail of accounts whose addresses are `NAME@mail.test`.
@Suite struct TestMailEndpointsTests {
    private let api: APIWorld
    private let mail: LocalMail
    private let work = MailWork(pool: WorkerPool(name: "mail", lanes: 1, depth: 0))
    private let router: Router

    init() throws {
        api = try APIWorld()
        let clock = AdjustableClock(api.world.clock.clocks)
        let fixtures = TestFixtures(
            agents: api.world.agents, mailboxes: api.world.mailboxes, users: api.world.users,
            apiTokens: api.world.apiTokens, stores: api.world.stores, clock: clock,
            random: api.world.random.make, runDueTasks: {})
        mail = LocalMail(
            MailEnvironment(
                reader: MIMEReader(),
                now: { MailInstant(milliseconds: clock.clocks.now().milliseconds) },
                random: { 7 },
                owner: { address in
                    let parts = address.split(separator: "@")
                    guard parts.last == "mail.test", let name = parts.first else {
                        return .elsewhere
                    }
                    let account = MailAccount(id: String(name), address: address)
                    return name == "nobody" ? .unknown : .account(account)
                }, quota: { $0 == "full" ? 0 : 100 << 20 }))
        let test = TestAPI(
            fixtures: fixtures, publicURL: "http://127.0.0.1:8080", clock: clock.clocks,
            mail: AccountsMail(local: mail, names: nil, work: work))
        router = Router(groups: [test.routes], fallback: { _, _ in .init(status: .ok) })
    }

    private func call(
        _ method: HTTPEngine.Method, _ target: String, json: String = ""
    ) async -> Response {
        await router.respond(to: Request(method: method, target: target, body: Array(json.utf8)))
    }

    @discardableResult
    private func deliver(_ json: String) async throws -> [JSONObject] {
        let response = await call(.post, "/test/messages", json: "[\(json)]")
        #expect(response.status == .created, "\(response)")
        return try #require(try response.json.list("messages")).compactMap(\.object)
    }

    private func messages(_ query: String = "") async throws -> [JSONObject] {
        let response = await call(.get, "/test/messages\(query)")
        #expect(response.status == .ok)
        return try #require(try response.json.list("messages")).compactMap(\.object)
    }

    private func subjects(_ query: String = "") async throws -> [String] {
        try await messages(query).compactMap { $0.text("subject") }
    }

    @Test func aMessageIsDeliveredAndShownWithAllThatATestReads() async throws {
        let made = try await deliver(
            #"""
            {"to":["ann@mail.test","out@other.test"],"from":"app@shop.test",
             "subject":"Grüße","text":"Code 123456, https://shop.test/a?b=1.",
             "html":"<p>654321 <a href='https://shop.test/?x=1&amp;y=2'>go</a></p>",
             "attachments":[{"filename":"ä.png","content_type":"image/png","content":"AQID"}]}
            """#)
        let message = try #require(try await messages().first)
        #expect(
            message.names == [
                "number", "ids", "mail_from", "to", "from", "subject", "text", "html",
                "attachments", "headers", "received_at", "links", "codes",
            ])
        #expect(message.number("number") == 1)
        let ids = try #require(message.list("ids"))
        #expect(made.first?.list("ids") == ids && ids.last == .null)
        let account = MailAccount(id: "ann", address: "ann@mail.test")
        let inbox = try await mail.messages(of: account, page: 1)
        #expect(ids.first?.string == inbox.first?.id)
        #expect(message.text("mail_from") == "app@shop.test")
        #expect(message.text("from") == "app@shop.test")
        #expect(message.list("to") == [.string("ann@mail.test"), .string("out@other.test")])
        #expect(message.text("subject") == "Grüße")
        #expect(message.text("text")?.hasPrefix("Code 123456") == true)
        #expect(message.text("html")?.hasPrefix("<p>654321") == true)
        let file = try #require(message.list("attachments")?.first?.object)
        #expect(file.text("filename") == "ä.png" && file.text("content_type") == "image/png")
        #expect(file.number("size") == 3)
        #expect(
            message.list("links")?.compactMap(\.string)
                == ["https://shop.test/a?b=1", "https://shop.test/?x=1&y=2"])
        #expect(message.list("codes")?.compactMap(\.string) == ["123456", "654321"])
        #expect(message.text("received_at") == api.world.clock.now.rfc3339)
        let headers = message.list("headers")?.compactMap(\.object) ?? []
        #expect(headers.contains { $0.text("name") == "Subject" && $0.text("value") == "Grüße" })
    }

    @Test func aSourceIsDeliveredAsItIs() async throws {
        try await deliver(#"{"to":"ann@mail.test","source":"Subject: s\nX: y\r\n\nbody\n"}"#)
        let message = try #require(try await messages().first)
        #expect(message.text("subject") == "s" && message.text("text") == "body\n")
        #expect(message["html"] == .null)
        let source = await call(.get, "/test/messages/1/source")
        #expect(source.header("Content-Type") == "message/rfc822")
        #expect(
            String(decoding: source.body, as: UTF8.self) == "Subject: s\r\nX: y\r\n\r\nbody\r\n")
        for number in ["0", "2", "x", "-1", "9223372036854775807", "99999999999999999999"] {
            try expectError(await call(.get, "/test/messages/\(number)/source"), 404, "not_found")
        }
    }

    @Test func allThatIsAskedForMustMatch() async throws {
        for (to, from, subject) in [
            ("ann@mail.test", "app@shop.test", "Your code"),
            ("bob@mail.test", "app@shop.test", "Your invoice"),
            ("Out@Other.test", "news@shop.test", "News"),
        ] {
            try await deliver(#"{"to":"\#(to)","from":"\#(from)","subject":"\#(subject)"}"#)
        }
        let all = ["Your code", "Your invoice", "News"]
        for (query, expected) in [
            ("", all), ("?to=ANN@mail.test", ["Your code"]), ("?to=ann", []),
            ("?to=out@other.test", ["News"]),
            ("?from=APP@shop.test", ["Your code", "Your invoice"]),
            ("?subject=your", ["Your code", "Your invoice"]), ("?subject=INV", ["Your invoice"]),
            ("?subject=your&to=bob@mail.test", ["Your invoice"]), ("?subject=Your+code+", []),
            ("?after=1", ["Your invoice", "News"]), ("?after=3", []), ("?limit=1", ["Your code"]),
            ("?after=1&from=app@shop.test", ["Your invoice"]),
        ] {
            #expect(try await subjects(query) == expected, "\(query)")
        }
        #expect(try await call(.get, "/test/messages?limit=2").json.number("last") == 2)
        #expect(try await call(.get, "/test/messages?after=3").json.number("last") == 3)
    }

    @Test func theSenderOfTheEnvelopeIsASenderToo() async throws {
        _ = await mail.deliver(
            Array("From: A <a@x.test>\r\nSubject: s\r\n\r\n".utf8), from: "bounce@x.test",
            to: ["ann@mail.test"])
        #expect(try await subjects("?from=bounce@x.test") == ["s"])
        #expect(try await subjects("?from=a@x.test") == ["s"])
    }

    @Test func aWaitEndsWithTheMessageThatMatches() async throws {
        try await deliver(#"{"to":"ann@mail.test","subject":"before"}"#)
        async let found = subjects("?subject=code&timeout=60")
        // Whether they arrive before or during the wait.
        try await deliver(#"{"to":"ann@mail.test","subject":"other"}"#)
        try await deliver(#"{"to":"ann@mail.test","subject":"the code"}"#)
        #expect(try await found == ["the code"])
    }

    @Test func whereNothingMatchesTheListIsEmptyAtOnce() async throws {
        try await deliver(#"{"to":"ann@mail.test","subject":"other"}"#)
        #expect(try await subjects("?subject=code") == [])
    }

    @Test func unknownRecipientsAreNamedAndNothingIsDelivered() async throws {
        let response = await call(
            .post, "/test/messages",
            json: #"""
                [{"to":"ann@mail.test"},{"to":["nobody@mail.test","bob@mail.test","no address"]}]
                """#)
        try expectError(response, 400, "invalid_request")
        let text = try #require(try response.json.text("message"))
        #expect(text.contains("nobody@mail.test, no address") && !text.contains("bob"))
        #expect(try await messages().isEmpty)
    }

    @Test(arguments: [
        "", "{}", "[]", "[{}]", #"[{"to":1}]"#, #"[{"to":[]}]"#, #"[{"to":["a@mail.test",1]}]"#,
        #"[{"to":"a@mail.test","from":"nobody"}]"#, #"[{"to":"a@mail.test","text":1}]"#,
        #"[{"to":"a@mail.test","subject":"a\nBcc: x@y.test"}]"#,
        #"[{"to":"a@mail.test","source":"x","text":"y"}]"#,
        #"[{"to":"a@mail.test","attachments":[{"filename":"f"}]}]"#,
        #"[{"to":"a@mail.test","attachments":[{"filename":"f","content":"*"}]}]"#,
        #"[{"to":"a@mail.test","attachments":[{"filename":"f","content":"","content_type":"x"}]}]"#,
        #"[{"to":"a@mail.test","attachments":{}}]"#, #"[{"to":"full@mail.test"}]"#,
    ])
    func whatCannotBeDeliveredIsRefused(json: String) async throws {
        try expectError(
            await call(.post, "/test/messages", json: json), 400, "invalid_request")
        #expect(try await messages().isEmpty)
    }

    @Test(arguments: [
        "after=-1", "after=x", "limit=0", "limit=1001", "timeout=61", "to=a@b.test&to=c@d.test",
    ])
    func aQueryThatCannotBeReadIsRefused(query: String) async throws {
        try expectError(await call(.get, "/test/messages?\(query)"), 400, "invalid_request")
    }

    @Test(arguments: ["rcpt", "data", "temp"])
    func aFaultIsSetAndEnded(name: String) async throws {
        let set = await call(.post, "/test/mail", json: #"{"fail":"\#(name)"}"#)
        #expect(try set.json.text("fail") == name && mail.fault?.rawValue == name)
        let refused = await call(.post, "/test/messages", json: #"[{"to":"ann@mail.test"}]"#)
        try expectError(refused, 400, "invalid_request")
        #expect(try refused.json.text("message")?.contains("`\(name)`") == true)
        let ended = await call(.post, "/test/mail", json: #"{"fail":null}"#)
        #expect(try ended.json["fail"] == .null && mail.fault == nil)
        try await deliver(#"{"to":"ann@mail.test"}"#)
    }

    @Test func anUnknownFaultIsRefused() async throws {
        for json in ["", "[]", #"{"fail":"all"}"#, #"{"fail":true}"#] {
            try expectError(await call(.post, "/test/mail", json: json), 400, "invalid_request")
        }
    }

    @Test func aClientHasSixteenWaits() async throws {
        let client = IPAddress.loopback.client
        var places = (0..<MailWork.waitsPerClient).compactMap { _ in
            work.waits.place(at: client)
        }
        #expect(places.count == 16)
        let rejected = await call(.get, "/test/messages?timeout=60")
        try expectError(rejected, 429, "rate_limit_exceeded")
        #expect(rejected.header("Retry-After") != nil)
        // What does not wait needs no place.
        #expect(await call(.get, "/test/messages").status == .ok)
        places = []
        let waiting = Task { await call(.get, "/test/messages?timeout=60") }
        while work.waits.occupancy.keys == 0 { await Task.yield() }
        try await deliver(#"{"to":"ann@mail.test"}"#)
        #expect(await waiting.value.status == .ok)
        #expect(work.waits.occupancy.keys == 0)
    }

    @Test func clearedMessagesStayInTheirMailboxes() async throws {
        try await deliver(#"{"to":"ann@mail.test","subject":"first"}"#)
        #expect(await call(.delete, "/test/messages").status == .noContent)
        #expect(try await messages().isEmpty)
        try await deliver(#"{"to":"ann@mail.test","subject":"second"}"#)
        #expect(try await messages().first?.number("number") == 2)
        let account = MailAccount(id: "ann", address: "ann@mail.test")
        #expect(try await mail.messages(of: account, page: 1).count == 2)
    }

    @Test func aResetRemovesAllMailAndTheFault() async throws {
        try await deliver(#"{"to":"ann@mail.test"}"#)
        _ = await call(.post, "/test/mail", json: #"{"fail":"temp"}"#)
        #expect(await call(.post, "/test/reset").status == .noContent)
        #expect(try await messages().isEmpty)
        #expect(mail.fault == nil)
        let account = MailAccount(id: "ann", address: "ann@mail.test")
        #expect(try await mail.messages(of: account, page: 1).isEmpty)
    }

    @Test func aPageOfLargeMessagesEndsEarlyAndTheNextOneGoesOn() async throws {
        let text = String(repeating: "line of text\\r\\n", count: 300_000)
        for number in 1...4 {
            try await deliver(
                #"{"to":"ann@mail.test","source":"Subject: \#(number)\r\n\r\n\#(text)"}"#)
        }
        let first = try await call(.get, "/test/messages").json
        let shown = try #require(first.list("messages")).count
        #expect((1..<4).contains(shown) && first.number("last") == Int64(shown))
        let rest = try await subjects("?after=\(shown)")
        #expect(rest.first == "\(shown + 1)")
    }
}
