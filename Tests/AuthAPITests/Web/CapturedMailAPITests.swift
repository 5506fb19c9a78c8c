import AuthAPI
import HTTPEngine
import LocalMail
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

/// `/mail` and its data, through the router. What the page does is tested in a browser
/// (Tests/Interop/test_mail_pages.py).
struct CapturedMailAPITests {
    private static let own = "auth.mail.test"

    private let mail = LocalMail(
        MailEnvironment(
            reader: SubjectReader(), now: { MailInstant(milliseconds: 784_111_777_000) },
            random: { 7 }, owner: { _ in .elsewhere }, quota: { _ in 1 << 20 }))
    private let router: Router

    init() throws {
        let api = try APIWorld()
        let captured = CapturedMailAPI(
            mail: mail, agent: api.agent, clock: api.world.clock.clocks)
        router = Router(
            groups: api.groups + [captured.routes], fallback: { _, _ in .init(status: .ok) })
    }

    private func call(
        _ method: HTTPEngine.Method, _ target: String, host: String = own,
        headers: [(String, String)] = []
    ) async -> Response {
        await router.respond(
            to: Request(
                method: method, target: target, headers: [("Host", host)] + headers, body: []))
    }

    private func capture(_ subject: String, body: String = "Hello\r\n") async {
        let message = "Subject: \(subject)\r\n\(body.hasPrefix("Content") ? "" : "\r\n")\(body)"
        _ = await mail.deliver(
            Array(message.utf8), from: "app@app.test", to: ["a@else.test", "b@else.test"])
    }

    private func subjects(_ target: String) async throws -> [String?] {
        let list = try await call(.get, target).json.list("messages") ?? []
        return list.map { $0.object?.text("subject") }
    }

    @Test func messagesAreListedNewestFirstInPages() async throws {
        for number in 1...31 { await capture("m\(number)") }
        let first = try await subjects("/mail/messages")
        #expect(first.count == 30 && first.first == "m31" && first.last == "m2")
        #expect(try await subjects("/mail/messages?page=2") == ["m1"])
        #expect(try await subjects("/mail/messages?page=3") == [])
        #expect(try await subjects("/mail/messages?after=29") == ["m31", "m30"])
        let oldest = try await subjects("/mail/messages?after=0")
        #expect(oldest.first == "m30" && oldest.last == "m1")
    }

    @Test func aMessageHasItsEnvelopeItsTextsAndItsBytes() async throws {
        await capture("one")
        let shown = try await call(.get, "/mail/messages/1").json
        #expect(
            shown.names == [
                "id", "sender", "from", "subject", "preview_text", "size", "is_read", "created_at",
                "to", "mail_from", "text_body", "html_body", "attachments",
            ])
        #expect(shown.text("mail_from") == "app@app.test")
        #expect(shown.list("to") == [.string("a@else.test"), .string("b@else.test")])
        #expect(shown.text("text_body")?.hasPrefix("Hello") == true)
        #expect(shown["html_body"] == .null)
        let source = await call(.get, "/mail/messages/1/source")
        #expect(source.body == Array("Subject: one\r\n\r\nHello\r\n".utf8))
        #expect(source.header("Content-Type") == "message/rfc822")
    }

    /// A page in an attachment would otherwise run as a page of this server.
    @Test func anAttachmentIsDownloadedAndNotShown() async throws {
        await capture(
            "one",
            body: "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b\r\n"
                + "Content-Type: text/html\r\nContent-Disposition: attachment; "
                + "filename=a.html\r\n\r\n<script>1</script>\r\n--b--\r\n")
        let response = await call(.get, "/mail/messages/1/attachments/0")
        #expect(response.body == Array("<script>1</script>".utf8))
        #expect(response.header("Content-Type") == "application/octet-stream")
        #expect(response.header("Content-Disposition")?.hasPrefix("attachment;") == true)
        try expectError(await call(.get, "/mail/messages/1/attachments/1"), 404, "not_found")
    }

    @Test func allAreDeletedAndNumbersGoOn() async throws {
        await capture("one")
        #expect(await call(.delete, "/mail/messages").status == .noContent)
        #expect(try await subjects("/mail/messages") == [])
        try expectError(await call(.get, "/mail/messages/1"), 404, "not_found")
        await capture("two")
        #expect(try await call(.get, "/mail/messages/2").json.text("subject") == "two")
    }

    @Test func aWaitEndsWithTheNextMessage() async throws {
        await capture("one")
        async let found = subjects("/mail/messages?after=1&timeout=60")
        await capture("two")
        #expect(try await found == ["two"])
    }

    @Test(arguments: [
        "page=0", "page=x", "after=-1", "after=1&after=2", "after=1&timeout=61",
        "after=99999999999999999999",
    ])
    func aNumberThatIsNoneIsRefused(query: String) async throws {
        try expectError(await call(.get, "/mail/messages?\(query)"), 400, "invalid_request")
    }

    @Test(arguments: ["0", "01", "+1", "2", "x", "99999999999999999999"])
    func aMessageThatIsNotThereIsNotFound(number: String) async throws {
        await capture("one")
        try expectError(await call(.get, "/mail/messages/\(number)"), 404, "not_found")
    }

    /// Another page in the browser of the developer, and a name that an attacker resolves to this
    /// server, read nothing and delete nothing.
    @Test(
        arguments: [
            ("evil.test", nil), ("auth.mail.test.evil.test", nil),
            (own, ("Origin", "https://evil.test")), (own, ("Sec-Fetch-Site", "cross-site")),
            (own, ("Sec-Fetch-Site", "same-site")),
        ] as [(String, (String, String)?)])
    func otherOriginsAndHostsGetNothing(host: String, header: (String, String)?) async throws {
        await capture("one")
        let headers = header.map { [$0] } ?? []
        for (method, path) in [
            (HTTPEngine.Method.get, "/mail/messages"), (.get, "/mail/messages?after=0"),
            (.get, "/mail/messages/1"), (.get, "/mail/messages/1/source"),
            (.get, "/mail/messages/1/attachments/0"), (.delete, "/mail/messages"),
        ] {
            let response = await call(method, path, host: host, headers: headers)
            try expectError(response, 403, "forbidden")
        }
        #expect(try await subjects("/mail/messages") == ["one"])
    }

    @Test func thePageIsShownUnderItsOwnHostAndRunsOnlyScriptsOfThisServer() async throws {
        #expect(await call(.get, "/mail", host: "evil.test").status == .misdirectedRequest)
        let response = await call(.get, "/mail")
        #expect(response.status == .ok)
        #expect(
            response.header("Content-Security-Policy")
                == "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                + "img-src data: https:; connect-src 'self'; worker-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
        let page = String(decoding: response.body, as: UTF8.self)
        #expect(page.contains("src=\"/web/captured.js\""))
        #expect(page.contains("<a href=\"/mail\" aria-current=\"page\">Mail</a>"))
        #expect(!page.contains("{{"))
    }

    @Test func withoutCapturedMailThereIsNoPageAndNoLink() async throws {
        let api = try APIWorld()
        #expect(await api.call(.get, "/mail").status == .notFound)
        #expect(await api.call(.get, "/mail/messages").status == .notFound)
        let page = String(decoding: await api.call(.get, "/signup").body, as: UTF8.self)
        #expect(!page.contains("href=\"/mail\""))
    }
}
