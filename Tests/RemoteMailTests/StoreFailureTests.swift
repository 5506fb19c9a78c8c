import Fetching
import LocalMail
import Networking
import StrictJSON
import TestPrimitives
import Testing

@testable import RemoteMail

/// A store that is away, is slow, or does not answer as it must.
@Suite struct StoreFailureTests {
    private let world = StoreWorld()
    private let ann = StoreWorld.account

    /// How every request fails, which must be in the same way.
    private func failures(of mail: RemoteMail, _ id: String = "M1") async -> Set<StoreWorld.Failure>
    {
        let asks: [() async throws -> Void] = [
            { _ = try await mail.messages(of: ann, page: 1) },
            { _ = try await mail.message(id, of: ann) },
            { _ = try await mail.source(of: id, of: ann) },
            { _ = try await mail.attachment(0, of: id, of: ann) },
            { try await mail.delete(id, of: ann) },
            { _ = try await mail.markRead(.one(id), of: ann) },
            { _ = try await mail.markRead(.several([id]), of: ann) },
            { _ = try await mail.markRead(.all, of: ann) },
            { _ = try await mail.newMessages(of: ann, after: id, until: .now) },
            { _ = try await mail.newMessages(of: ann, after: nil, until: .now) },
        ]
        var found: Set<StoreWorld.Failure> = []
        for ask in asks { found.insert(await StoreWorld.failure(ask)) }
        return found
    }

    @Test(arguments: [OutboundError.unreachable, .unresolvable, .timedOut, .untrusted])
    func aStoreThatIsAwayIsUnavailable(error: OutboundError) async {
        world.answer { _ in throw error }
        #expect(await failures(of: world.mail()) == [.unavailable])
        #expect(world.reports.entries == Array(repeating: "\(error)", count: 10))
    }

    @Test func aStoreWithTooManyRequestsIsUnavailable() async {
        world.answer { _ in throw OutboundError.busy }
        #expect(await failures(of: world.mail()) == [.unavailable])
        #expect(world.reports.entries.isEmpty)
    }

    @Test(arguments: [OutboundError.tooLarge, .failed(code: 52)])
    func anAnswerThatCannotBeReadIsInvalid(error: OutboundError) async {
        world.answer { _ in throw error }
        #expect(await failures(of: world.mail()) == [.invalidResponse])
        #expect(Set(world.reports.entries) == ["\(error)"])
    }

    @Test(arguments: [429, 502, 503, 504])
    func aStatusOfABusyServerIsUnavailable(status: Int) async {
        world.answer(status, "")
        #expect(await failures(of: world.mail()) == [.unavailable])
    }

    @Test(arguments: [100, 201, 204, 301, 302, 400, 403, 404, 500])
    func anyOtherStatusIsInvalid(status: Int) async {
        world.answer(status, StoreWorld.session)
        #expect(await failures(of: world.mail()) == [.invalidResponse])
        #expect(Set(world.reports.entries) == ["its response has status \(status)"])
    }

    @Test func aTokenThatIsRejectedIsReplacedOnce() async throws {
        let mail = world.mail()
        _ = try await mail.messages(of: ann, page: 1)
        world.answer { request in
            let isOld = request.headers.contains { $0.value == "Bearer token1" }
            return isOld ? FetchedResponse(status: 401, headers: [], body: []) : nil
        }
        _ = try await mail.messages(of: ann, page: 1)
        #expect(world.tokens.entries == ["token1", "token2"])
        #expect(world.reports.entries.isEmpty)
    }

    @Test func aStoreThatRejectsEveryTokenIsInvalid() async {
        world.answer(401, "")
        #expect(await failures(of: world.mail()) == [.invalidResponse])
        #expect(
            Set(world.reports.entries) == ["it rejects the capability (status 401)"])
        #expect(world.requests.entries.count == 10)
    }

    @Test func aTokenThatCannotBeSignedIsPassedOn() async {
        let store = world.mail().store
        let mail = store.mail(for: .loopback) { () async throws(MailStoreError) in
            throw .unavailable(retryAfter: .seconds(7))
        }
        #expect(await failures(of: mail) == [.unavailable])
        #expect(world.requests.entries.isEmpty && world.reports.entries.isEmpty)
    }

    // MARK: Sessions

    @Test(
        arguments: [
            "", "x", "[]", "{}", "null", #"{"state":"s"}"#,
            StoreWorld.session.replacing(#""state":"s""#, with: #""state":1"#),
            StoreWorld.session.replacing(#""apiUrl":"/jmap/""#, with: #""apiUrl":null"#),
            StoreWorld.session.replacing(#""primaryAccounts""#, with: #""x""#),
            StoreWorld.session + "{",
        ])
    func aSessionThatIsNoneIsInvalid(session: String) async {
        world.answer(200, session)
        #expect(await failures(of: world.mail()) == [.invalidResponse])
    }

    @Test(
        arguments: [
            "https://evil.test/jmap/", "//evil.test/", "http://store.test:8008.evil.test/",
            "http://store.test:8008@evil.test/", "http://store.test:80080/", "jmap/", "",
            "http://store.test:8008/basement/", "https://mail.test.evil.test/", "/a b",
        ])
    func aTokenIsSentToTheStoreOnly(url: String) async {
        let session = StoreWorld.session.replacing(
            #""apiUrl":"/jmap/""#, with: #""apiUrl":"\#(url)""#)
        world.answer(200, session)
        #expect(await failures(of: world.mail()) == [.invalidResponse])
        #expect(
            world.requests.entries.allSatisfy {
                $0.url == "http://store.test:8008/base/jmap/session"
            })
    }

    @Test func anAccountWithoutAMailboxHasNoMail() async throws {
        world.answer(
            200, StoreWorld.session.replacing("{\"urn:ietf:params:jmap:mail\":{}}", with: "null"))
        let mail = world.mail()
        #expect(try await mail.messages(of: ann, page: 1).isEmpty)
        #expect(try await mail.markRead(.all, of: ann) == 0)
        #expect(try await mail.markRead(.several(["M1"]), of: ann) == 0)
        #expect(try await mail.newMessages(of: ann, after: nil, until: .now).isEmpty)
        #expect(await StoreWorld.failure { _ = try await mail.message("M1", of: ann) } == .notFound)
        #expect(world.reports.entries.isEmpty)
    }

    @Test func theFirstMessageEndsAWaitForAMailbox() async throws {
        let (mail, world) = (world.mail(), world)
        let none = StoreWorld.session.replacing(
            "{\"urn:ietf:params:jmap:mail\":{}}", with: "null")
        let asked = Level()
        world.answer { request in
            asked.raise()
            return FetchedResponse(status: 200, headers: [], body: Array(none.utf8))
        }
        let waited = Task { [ann] in
            try await mail.newMessages(of: ann, after: nil, until: .now + .seconds(3600))
        }
        await asked.reaches(3)
        let id = await world.deliver()
        world.answer { _ in nil }
        #expect(try await waited.value.map(\.id) == [id])
    }

    @Test func aWaitThatIsCancelledHasFoundNothing() async throws {
        let (mail, asked) = (world.mail(), Level())
        world.answer { _ in
            asked.raise()
            try await Task.sleep(for: .seconds(3600))
            return nil
        }
        let waited = Task { [ann] in
            try await mail.newMessages(of: ann, after: nil, until: .now + .seconds(3600))
        }
        await asked.reaches(1)
        waited.cancel()
        #expect(try await waited.value.isEmpty)
    }

    // MARK: Responses

    @Test(
        arguments: [
            "", "{", "[]", "{}", #"{"methodResponses":[]}"#,
            #"{"methodResponses":{},"sessionState":"s"}"#,
            #"{"methodResponses":[],"sessionState":"s"}"#,
            #"{"methodResponses":[[]],"sessionState":"s"}"#,
            #"{"methodResponses":[["Email/get",{},"c9"]],"sessionState":"s"}"#,
            #"{"methodResponses":[["error",{"type":"serverFail"},"c0"]],"sessionState":"s"}"#,
            #"{"methodResponses":[["error",{"type":"a b\n"},"c0"]],"sessionState":"s"}"#,
            #"{"methodResponses":[["Core/echo",{},"c0"]],"sessionState":"s"}"#,
            String(repeating: "[", count: 100_000),
        ])
    func aResponseThatIsNoneIsInvalid(body: String) async {
        world.answerCalls(body)
        #expect(await failures(of: world.mail()) == [.invalidResponse])
        #expect(world.reports.entries.allSatisfy { !$0.contains("\n") })
    }

    @Test func aStoreThatIsUnavailableForAWhileIsSaidToBe() async {
        world.answerCalls(
            #"{"methodResponses":[["error",{"type":"serverUnavailable"},"c0"]],"sessionState":"s"}"#
        )
        #expect(await failures(of: world.mail()) == [.unavailable])
    }

    private static let email = """
        {"id":"M1","blobId":"G1","size":3,"from":[{"name":"B","email":"b@c"}],"sender":null,
        "subject":"s","preview":"p","keywords":{"$seen":true},"receivedAt":"2026-01-01T00:00:00Z",
        "textBody":[{"partId":"1","type":"text/plain"}],"htmlBody":[],
        "attachments":[{"blobId":"G2","type":"image/png","size":4,"name":null}],
        "bodyValues":{"1":{"value":"t"}}}
        """.replacing("\n", with: "")

    private static func got(_ email: String) -> String {
        #"{"methodResponses":[["Email/get",{"list":[\#(email)],"state":"1"},"c0"]],"#
            + #""sessionState":"s"}"#
    }

    @Test func anEmailIsRead() async throws {
        world.answerCalls(Self.got(Self.email))
        let (listing, body) = try await world.mail().message("M1", of: ann)
        #expect(listing.sender == "B" && listing.from == "b@c" && listing.isRead)
        #expect(listing.receivedAt.milliseconds == 1_767_225_600_000)
        #expect(body.text == "t" && body.html == nil)
        #expect(
            body.attachments == [
                MessageAttachment(name: nil, type: "image/png", size: 4, contentID: nil)
            ])
    }

    @Test(
        arguments: [
            (#""id":"M1""#, #""id":"M/1""#), (#""id":"M1""#, #""id":1"#), (#""id":"M1","#, ""),
            (#""size":3"#, #""size":-3"#), (#""size":3"#, #""size":"3""#), (#""size":3,"#, ""),
            (#""preview":"p","#, ""), (#""subject":"s""#, #""subject":[]"#),
            (#"[{"name":"B","email":"b@c"}]"#, #"{"name":"B"}"#),
            (#"[{"name":"B","email":"b@c"}]"#, #"["b@c"]"#), (#""name":"B""#, #""name":7"#),
            (#"{"$seen":true}"#, #"["$seen"]"#), ("2026-01-01T00:00:00Z", "2026-13-01T00:00:00Z"),
            ("2026-01-01T00:00:00Z", "yesterday"), (#""htmlBody":[],"#, ""),
            (#"{"1":{"value":"t"}}"#, "{}"), (#"{"1":{"value":"t"}}"#, #"{"1":"t"}"#),
            (#""partId":"1","#, ""), (#""attachments":["#, #""attachments":[7,"#),
            (#""size":4"#, #""size":4.5"#), (#""type":"image/png","#, ""),
        ])
    func anEmailWithAWrongPropertyIsInvalid(part: String, with other: String) async {
        #expect(Self.email.contains(part))
        world.answerCalls(Self.got(Self.email.replacing(part, with: other)))
        let mail = world.mail()
        #expect(
            await StoreWorld.failure { _ = try await mail.message("M1", of: ann) }
                == .invalidResponse)
        #expect(world.reports.entries.count == 1)
    }

    @Test func aLargeDownloadIsNotBegun() async {
        world.answerCalls(
            Self.got(
                Self.email.replacing(#""size":3"#, with: #""size":33554433"#)
                    .replacing(#""size":4"#, with: #""size":9223372036854775807"#)))
        let mail = world.mail()
        for ask in [
            { _ = try await mail.source(of: "M1", of: ann) },
            { _ = try await mail.attachment(0, of: "M1", of: ann) },
        ] as [() async throws -> Void] {
            #expect(await StoreWorld.failure(ask) == .invalidResponse)
        }
        #expect(world.requests.entries.allSatisfy { !$0.url.contains("download") })
    }

    @Test func aNameInAPathIsCoded() async throws {
        world.answerCalls(Self.got(Self.email))
        let mail = world.mail()
        // The blob does not exist.
        #expect(
            await StoreWorld.failure { _ = try await mail.source(of: "M1", of: ann) }
                == .notFound)
        let session = try SessionObject(
            Array(
                StoreWorld.session.replacing(#""ann""#, with: #""a/b?é@x""#)
                    .replacing("{accountId}", with: "{accountId}{accountId}").utf8),
            mail.store.settings)
        #expect(
            session.downloadURL(ofBlob: "{name}").hasSuffix(
                "/download/a%2Fb%3F%C3%A9%40xa%2Fb%3F%C3%A9%40x/%7Bname%7D/download"))
    }

    @Test func anEmailThatIsNotDeletedIsAnError() async {
        let mail = world.mail()
        for (body, failure) in [
            (#"{"destroyed":[],"notDestroyed":{"M1":{"type":"notFound"}}}"#, .notFound),
            (#"{"destroyed":[],"notDestroyed":{"M1":{"type":"forbidden"}}}"#, .invalidResponse),
            (#"{"destroyed":[],"notDestroyed":{"M1":7}}"#, .invalidResponse),
            (#"{"destroyed":["M2"]}"#, .invalidResponse), ("{}", .invalidResponse),
        ] as [(String, StoreWorld.Failure)] {
            world.answerCalls(
                #"{"methodResponses":[["Email/get",{"list":[{"id":"M1"}]},"c0"],"#
                    + #"["Email/set",\#(body),"c1"]],"sessionState":"s"}"#)
            #expect(await StoreWorld.failure { try await mail.delete("M1", of: ann) } == failure)
        }
    }
}
