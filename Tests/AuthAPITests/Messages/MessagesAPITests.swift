import AuthCore
import HTTPEngine
import LocalMail
import Networking
import Scheduling
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The messages of accounts.
struct MessagesAPITests {
    private let world: MailWorld
    private var api: APIWorld { world.api }

    init() throws {
        world = try MailWorld()
    }

    /// Every endpoint; `M` stands for a message.
    private static let endpoints: [(method: HTTPEngine.Method, path: String, json: String?)] = [
        (.get, "", nil), (.get, "/wait?timeout=0", nil), (.put, "/read", #"{"all":true}"#),
        (.get, "/M", nil), (.delete, "/M", nil), (.put, "/M/read", nil), (.get, "/M/source", nil),
        (.get, "/M/attachments/0", nil),
    ]

    @Test func aListShowsTheNewestFirst() async throws {
        let (address, token, _) = try await world.mailbox()
        let first = try await world.deliver(SampleMessage.text, to: address)
        let second = try await world.deliver(
            SampleMessage.text.replacing("Your code", with: "Another"), to: address)
        let body = try await list(address, token)
        #expect(body.names == ["messages", "page"] && body.number("page") == 1)
        let messages = try #require(body.list("messages")).compactMap(\.object)
        #expect(messages.compactMap { $0.text("id") } == [second, first])
        #expect(
            messages[1].names == [
                "id", "sender", "from", "subject", "preview_text", "size", "is_read", "created_at",
            ])
        #expect(messages[1].text("sender") == "Bob Example")
        #expect(messages[1].text("from") == "bob@example.com")
        #expect(messages[1].text("subject") == "Your code")
        #expect(messages[1].text("preview_text") == "It is 123456.")
        #expect(messages[1].text("created_at") == "1994-11-06T08:49:37Z")
        #expect(messages[1]["is_read"] == .bool(false))
        #expect(try await list(address, token, "?page=2").list("messages") == [])
    }

    @Test func aMessageHasItsTextsAndAttachments() async throws {
        let (address, token, _) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.withAttachments, to: address)
        let path = "/api/accounts/\(address)/messages/\(id)"
        let message = try await api.call(.get, path, bearer: token).json
        #expect(message.text("address") == address)
        #expect(message.text("text_body") == "plain")
        #expect(message.text("html_body") == "<p>html</p>")
        let attachments = try #require(message.list("attachments")).compactMap(\.object)
        #expect(attachments.map { $0.text("filename") } == ["_bild ä.png", "page.html"])
        #expect(attachments.map { $0.number("index") } == [0, 1])
        #expect(attachments.map { $0.text("content_type") } == ["image/png", "text/html"])
        #expect(attachments[0].number("size") == 8)
        #expect(attachments.map { $0["content_id"] } == [.null, .null])
        #expect(message["is_read"] == .bool(false))
        #expect(try await api.call(.get, path, bearer: token).json["is_read"] == .bool(false))
    }

    /// RFC 8621 has such an image in the lists of what is shown, and not among the attachments.
    @Test(arguments: ["mixed", "related"])
    func anImageBetweenTheTextsIsAnAttachment(subtype: String) async throws {
        let (address, token, _) = try await world.mailbox()
        let source = """
            From: bob@example.com
            MIME-Version: 1.0
            Content-Type: multipart/\(subtype); boundary=b

            --b
            Content-Type: text/html

            <img src="cid:a@b">
            --b
            Content-Type: image/png
            Content-ID: <a@b>
            Content-Disposition: inline
            Content-Transfer-Encoding: base64

            iVBORw==
            --b--

            """
        let id = try await world.deliver(source, to: address)
        let message = try await call(.get, address, token, "/\(id)").json
        #expect(message.text("html_body")?.contains("cid:a@b") == true)
        let attachments = try #require(message.list("attachments")).compactMap(\.object)
        #expect(attachments.map { $0.text("content_type") } == ["image/png"])
        #expect(attachments.map { $0.text("content_id") } == ["a@b"])
        let image = await call(.get, address, token, "/\(id)/attachments/0")
        #expect(image.body == [0x89, 0x50, 0x4E, 0x47])
    }

    @Test func aMessageWithoutHTMLHasNull() async throws {
        let (address, token, _) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.text, to: address)
        let message = try await call(.get, address, token, "/\(id)").json
        #expect(message["html_body"] == .null && message.list("attachments") == [])
    }

    @Test func aLargeMessageIsShownAsASmallOne() async throws {
        let (address, token, _) = try await world.mailbox()
        let line = String(repeating: "x", count: 70) + "\n"
        let text = String(repeating: line, count: 300)
        let id = try await world.deliver(
            SampleMessage.withAttachments.replacing("plain\n", with: "plain\n" + text), to: address)
        let message = try await call(.get, address, token, "/\(id)").json
        #expect(message.text("text_body")?.hasPrefix("plain\nxxx") == true)
        let attachment = await call(.get, address, token, "/\(id)/attachments/0")
        #expect(attachment.body.count == 8)
    }

    @Test func anAttachmentIsNeverAPageOfThisServer() async throws {
        let (address, token, _) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.withAttachments, to: address)
        let image = await call(.get, address, token, "/\(id)/attachments/0")
        #expect(image.body == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(image.header("Content-Type") == "image/png")
        #expect(
            image.header("Content-Disposition")
                == "attachment; filename=\"_bild _.png\"; filename*=UTF-8''_bild%20%C3%A4.png")
        let page = await call(.get, address, token, "/\(id)/attachments/1")
        #expect(page.body == Array("<script>alert(1)</script>".utf8))
        #expect(page.header("Content-Type") == "application/octet-stream")
        for response in [image, page] {
            #expect(response.header("X-Content-Type-Options") == "nosniff")
            #expect(response.header("Content-Security-Policy") == "sandbox; default-src 'none'")
            #expect(response.header("Content-Disposition")?.hasPrefix("attachment") == true)
        }
    }

    @Test(arguments: ["2", "-1", "+0", "00", "x", "99999999999999999999"])
    func anAttachmentThatIsNotThereIsNotFound(index: String) async throws {
        let (address, token, _) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.withAttachments, to: address)
        let response = await call(.get, address, token, "/\(id)/attachments/\(index)")
        try expectError(response, 404, "not_found")
    }

    @Test func theSourceIsTheMessageByteForByte() async throws {
        let (address, token, _) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.text, to: address)
        let response = await call(.get, address, token, "/\(id)/source")
        #expect(response.body == Array(SampleMessage.text.replacing("\n", with: "\r\n").utf8))
        #expect(response.header("Content-Type") == "message/rfc822")
        #expect(response.header("Content-Disposition")?.hasPrefix("attachment") == true)
    }

    @Test func markingAsReadCountsWhatWasUnread() async throws {
        let (address, token, _) = try await world.mailbox()
        let ids = [
            try await world.deliver(SampleMessage.text, to: address),
            try await world.deliver(SampleMessage.text, to: address),
            try await world.deliver(SampleMessage.text, to: address),
        ]
        func updated(_ path: String, _ json: String? = nil) async throws -> Int64? {
            try await call(.put, address, token, path, json: json).json.number("updated")
        }
        #expect(try await updated("/\(ids[0])/read") == 1)
        #expect(try await updated("/\(ids[0])/read") == 0)
        let both = #"{"ids":["\#(ids[0])","\#(ids[1])","unknown"]}"#
        #expect(try await updated("/read", both) == 1)
        #expect(try await updated("/read", #"{"all":true}"#) == 1)
        #expect(try await updated("/read", #"{"all":true}"#) == 0)
    }

    @Test(arguments: [
        "{", "[]", "{}", #"{"all":false}"#, #"{"all":1}"#, #"{"ids":"x"}"#, #"{"ids":[1]}"#,
        #"{"ids":[],"all":true}"#,
        "{\"ids\":[" + (0...1_000).map { "\"\($0)\"" }.joined(separator: ",") + "]}",
    ])
    func aSelectionThatIsNotOneIsMalformed(json: String) async throws {
        let (address, token, _) = try await world.mailbox()
        try expectError(
            await call(.put, address, token, "/read", json: json), 400, "invalid_request")
    }

    @Test(arguments: [
        "?page=0", "?page=-1", "?page=+1", "?page=x", "?page=1&page=1", "?page=1000001",
        "/wait?timeout=61", "/wait?timeout=-1", "/wait?timeout=x", "/wait?timeout=1.5",
    ])
    func aNumberOutOfItsRangeIsMalformed(query: String) async throws {
        let (address, token, _) = try await world.mailbox()
        try expectError(await call(.get, address, token, query), 400, "invalid_request")
    }

    @Test func aDeletedMessageIsNotFound() async throws {
        let (address, token, _) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.text, to: address)
        #expect(await call(.delete, address, token, "/\(id)").status == .noContent)
        try expectError(await call(.delete, address, token, "/\(id)"), 404, "not_found")
        try expectError(await call(.get, address, token, "/\(id)"), 404, "not_found")
    }

    @Test func unknownMessagesAreNotFoundAtEveryEndpoint() async throws {
        let (address, token, _) = try await world.mailbox()
        for endpoint in Self.endpoints where endpoint.path.hasPrefix("/M") {
            try expectError(
                await call(endpoint.method, address, token, endpoint.path), 404, "not_found")
        }
        try expectError(
            await call(.get, address, token, "/wait?since=M1&timeout=0"), 404, "not_found")
    }

    @Test func everyEndpointKeepsTheRulesOfAccess() async throws {
        let (address, token, _) = try await world.mailbox()
        let other = try await world.mailbox("other")
        let pro = try await api.pro()
        for endpoint in Self.endpoints {
            for (base, bearer, status, code) in [
                ("/api/accounts", nil, 401, "unauthorized"),
                ("/api/accounts", "garbage", 401, "invalid_or_expired_token"),
                ("/api/accounts", other.token, 403, "forbidden"),
                ("/api/accounts", pro, 404, "not_found"),
                ("/api/user/accounts", nil, 401, "unauthorized"),
                ("/api/user/accounts", token, 403, "forbidden"),
                ("/api/user/accounts", pro, 404, "not_found"),
            ] as [(String, String?, Int, String)] {
                let response = await api.call(
                    endpoint.method, "\(base)/\(address)/messages\(endpoint.path)",
                    bearer: bearer, json: endpoint.json)
                try expectError(response, status, code)
            }
        }
    }

    @Test func anOwnerReadsTheMessagesOfTheAccountByTokenAndByCookie() async throws {
        let pro = try await api.pro()
        _ = try await api.create("owned@mail.test", bearer: pro)
        try await world.deliver(SampleMessage.text, to: "owned@mail.test")
        let path = "owned@mail.test/messages"
        let byToken = await api.call(.get, "/api/accounts/\(path)", bearer: pro)
        let byUser = await api.call(.get, "/api/user/accounts/\(path)", bearer: pro)
        let cookie = [("Cookie", "__Secure-postern_session=\(pro)")]
        let byCookie = await api.call(.get, "/api/user/accounts/\(path)", headers: cookie)
        for response in [byToken, byUser, byCookie] {
            #expect(response.status == .ok)
            #expect(try response.json.list("messages")?.count == 1)
        }
        let foreign = await api.call(
            .put, "/api/user/accounts/\(path)/read", json: #"{"all":true}"#,
            headers: cookie + [("Sec-Fetch-Site", "cross-site")])
        try expectError(foreign, 403, "forbidden")
    }

    /// Another process of the operator deletes the first account: this one is not told.
    @Test func aNewAccountDoesNotGetTheMailOfADeletedOne() async throws {
        let (address, token, _) = try await world.mailbox()
        try await world.deliver(SampleMessage.text, to: address)
        #expect(try await call(.get, address, token, "").json.list("messages")?.count == 1)
        let parsed = try #require(Address(parsing: address))
        let stores = api.world.stores
        let account = try #require(try await stores.accounts.account(address: parsed))
        func event(_ kind: AuditEvent.Kind) -> AuditEvent {
            AuditEvent(kind, by: api.world.caller, actor: .operator, subject: address)
        }
        #expect(
            try await stores.accounts.delete(
                account.id, at: nil, recording: event(.accountDeleted)))
        #expect(
            try await stores.accountDirectory.free(parsed, recording: event(.addressFreed)))
        let new = try await world.mailbox()
        #expect(try await call(.get, address, new.token, "").json.list("messages") == [])
    }

    @Test func withoutAStoreEveryEndpointNamesTheSetting() async throws {
        let api = try APIWorld()
        let token = try await api.account("demo@mail.test").token
        for endpoint in Self.endpoints {
            let response = await api.call(
                endpoint.method, "/api/accounts/demo@mail.test/messages\(endpoint.path)",
                bearer: token, json: endpoint.json)
            try expectError(response, 503, "mail_store_missing")
            #expect(response.header("Retry-After") == "3600")
            #expect(try response.json.text("message")?.contains("mail.store") == true)
        }
    }

    @Test func usedIsWhatTheStoreCounts() async throws {
        let pro = try await api.pro()
        _ = try await api.create("owned@mail.test", bearer: pro)
        try await world.deliver(SampleMessage.text, to: "owned@mail.test")
        let size = Int64(world.mail(of: "owned@mail.test").usedBytes)
        #expect(size > 0)
        let shown = await api.call(.get, "/api/accounts/owned@mail.test", bearer: pro)
        #expect(try shown.json.number("used") == size)
        let listed = try await api.call(.get, "/api/user/accounts", bearer: pro).json
        #expect(listed.list("accounts")?.first?.object?.number("used") == size)
    }

    // MARK: Waiting

    @Test func aWaitEndsWithTheDelivery() async throws {
        let (address, token, _) = try await world.mailbox()
        let old = try await world.deliver(SampleMessage.text, to: address)
        async let waiting = call(.get, address, token, "/wait?since=\(old)&timeout=60")
        let new = try await world.deliver(SampleMessage.text, to: address)
        let messages = try #require(try await waiting.json.list("messages"))
        #expect(messages.compactMap { $0.object?.text("id") } == [new])
    }

    @Test func aWaitWithoutSinceIsForMessagesFromNowOn() async throws {
        let (address, token, _) = try await world.mailbox()
        for _ in 0..<31 { try await world.deliver(SampleMessage.text, to: address) }
        let none = await call(.get, address, token, "/wait?timeout=0")
        #expect(try none.json.list("messages") == [])
        async let waiting = call(.get, address, token, "/wait?timeout=60")
        while api.agent.mail.work.waits.occupancy.keys == 0 { await Task.yield() }
        // The wait may begin only now.
        let tries = Task {
            var ids: Set<String> = []
            while !Task.isCancelled {
                ids.insert(try await world.deliver(SampleMessage.text, to: address))
                await Task.yield()
            }
            return ids
        }
        let found = try #require(try await waiting.json.list("messages"))
        tries.cancel()
        let delivered = try await tries.value
        #expect(!found.isEmpty)
        let ids = found.compactMap { $0.object?.text("id") }
        #expect(Set(ids).isSubset(of: delivered))
    }

    @Test func aClientMayWaitOnSixteenConnections() async throws {
        let (address, token, _) = try await world.mailbox()
        let places = (0..<MailWork.waitsPerClient).compactMap { _ in
            api.agent.mail.work.waits.place(at: IPAddress.loopback.client)
        }
        #expect(places.count == 16)
        let response = await call(.get, address, token, "/wait?timeout=0")
        try expectError(response, 429, "rate_limit_exceeded")
        #expect(response.header("Retry-After") != nil)
        withExtendedLifetime(places) {}
    }

    @Test func withAFullPoolALargeMessageIsBusyAndASmallOneIsShown() async throws {
        let held = HeldPool(isFull: true)
        let world = try MailWorld(pool: held.pool)
        let (address, token, _) = try await world.mailbox()
        let small = try await world.deliver(SampleMessage.text, to: address)
        let large = try await world.deliver(
            SampleMessage.withAttachments + String(repeating: "x", count: 20_000), to: address)
        func get(_ path: String) async -> Response {
            await world.api.call(
                .get, "/api/accounts/\(address)/messages/\(path)", bearer: token)
        }
        #expect(await get(small).status == .ok)
        for path in [large, "\(large)/attachments/0"] {
            let busy = await get(path)
            try expectError(busy, 503, "server_busy")
            #expect(busy.header("Retry-After") == "1")
        }
        held.empty()
        for path in [large, "\(large)/attachments/0"] {
            #expect(await get(path).status == .ok)
        }
    }

    @Test func aWaitWhoseClientIsGoneGivesItsPlaceBack() async throws {
        let (address, token, _) = try await world.mailbox()
        let waiting = Task { await call(.get, address, token, "/wait?timeout=60") }
        while api.agent.mail.work.waits.occupancy.keys == 0 { await Task.yield() }
        waiting.cancel()
        _ = await waiting.value
        #expect(api.agent.mail.work.waits.occupancy.keys == 0)
    }

    private func list(
        _ address: String, _ token: String, _ query: String = ""
    ) async throws -> JSONObject {
        let response = await call(.get, address, token, query)
        #expect(response.status == .ok)
        return try response.json
    }

    private func call(
        _ method: HTTPEngine.Method, _ address: String, _ token: String, _ path: String,
        json: String? = nil
    ) async -> Response {
        await api.call(
            method, "/api/accounts/\(address)/messages\(path)", bearer: token, json: json)
    }
}
