import AuthCore
import HTTPEngine
import JMAP
import LocalMail
import Networking
import Scheduling
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The endpoints of JMAP over mail in this process.
struct JMAPAPITests {
    private let world: MailWorld
    private var api: APIWorld { world.api }

    init() throws {
        world = try MailWorld()
    }

    private static let using =
        #""using":["urn:ietf:params:jmap:core","urn:ietf:params:jmap:mail"]"#

    @Test func theSessionObjectHasTheCapabilitiesAndURLsOfThisServer() async throws {
        let (address, _, capability) = try await world.mailbox()
        let session = try await api.call(.get, "/.well-known/jmap", bearer: capability).json
        let names = session.object("capabilities")?.names.sorted()
        #expect(names == JMAPLimits.capabilities.sorted())
        let account = session.object("accounts")?.object(address)
        #expect(account?.object("accountCapabilities")?.object("urn:ietf:params:jmap:mail") != nil)
        #expect(session.object("primaryAccounts")?.text("urn:ietf:params:jmap:mail") == address)
        #expect(session.text("apiUrl") == "\(AgentWorld.issuer)/jmap/")
        #expect(
            session.text("downloadUrl")
                == "\(AgentWorld.issuer)/jmap/download/{accountId}/{blobId}/{name}?accept={type}")
        let response = await post(#"{\#(Self.using),"methodCalls":[]}"#, capability)
        #expect(try response.json.text("sessionState") == session.text("state"))
        let other = try await world.mailbox("other")
        let another = try await api.call(.get, "/.well-known/jmap", bearer: other.capability).json
        #expect(another.text("state") != session.text("state"))
    }

    @Test func callsOfEveryKindAreAnsweredInOrder() async throws {
        let (address, _, capability) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.text, to: address)
        // The first is answered on the loop, the second is not, and the third is too large for it.
        let padding = String(repeating: " ", count: 20_000)
        for (calls, padding) in [
            (#"["Mailbox/get",{"accountId":"\#(address)"},"a"]"#, ""),
            (#"["Email/get",{"accountId":"\#(address)","ids":["\#(id)"]},"a"]"#, ""),
            (#"["Core/echo",{"x":1},"a"]"#, padding),
        ] {
            let response = await post(
                #"{\#(Self.using),"methodCalls":[\#(calls)]\#(padding)}"#, capability)
            #expect(response.status == .ok)
            #expect(response.header("Content-Type") == "application/json")
            let first = try response.json.list("methodResponses")?.first?.array
            #expect(first?.first?.string.map(calls.contains) == true)
        }
    }

    @Test(arguments: [
        ("{", "notJSON"), ("[]", "notRequest"), (#"{"using":[]}"#, "notRequest"),
        (#"{"using":["x"],"methodCalls":[]}"#, "unknownCapability"),
        (
            #"{"using":[],"methodCalls":["#
                + Array(repeating: #"["Core/echo",{},"a"]"#, count: 17).joined(separator: ",")
                + "]}", "limit"
        ),
    ])
    func aRequestThatCannotBeMadeIsAProblem(json: String, type: String) async throws {
        let capability = try await world.mailbox().capability
        let response = await post(json, capability)
        try expectProblem(
            response, .badRequest, type, limit: type == "limit" ? "maxCallsInRequest" : nil)
    }

    @Test func anotherMediaTypeIsAProblem() async throws {
        let capability = try await world.mailbox().capability
        let response = await api.call(
            .post, "/jmap/", bearer: capability, headers: [("Content-Type", "text/plain")])
        try expectProblem(response, .unsupportedMediaType, "notJSON")
    }

    @Test func aBodyOverItsLimitIsAProblem() async throws {
        let limits = try #require(api.agent.localSessions).limits
        for (path, size, limit) in [
            ("/jmap/", limits.maxSizeRequest, "maxSizeRequest"),
            ("/jmap/upload/a/", limits.maxSizeUpload, "maxSizeUpload"),
        ] {
            let response = await api.router.respond(
                to: Request(
                    method: .post, target: path, body: [UInt8](repeating: 0x20, count: size + 1)))
            try expectProblem(response, .contentTooLarge, "limit", limit: limit)
        }
    }

    @Test func everyEndpointNeedsACapability() async throws {
        let (address, token, _) = try await world.mailbox()
        for (method, path) in [
            (.post, "/jmap/"), (.post, "/jmap/upload/\(address)/"),
            (.get, "/jmap/download/\(address)/B1/x"), (.get, "/jmap/eventsource/"),
        ] as [(HTTPEngine.Method, String)] {
            for bearer in [nil, "garbage", token] {
                let response = await api.call(method, path, bearer: bearer)
                #expect(response.status == .unauthorized)
                #expect(response.header("WWW-Authenticate") == "Bearer")
                _ = try response.agentError
            }
        }
    }

    @Test func requestsAtOnceAreLimitedForEachAccountAndPlacesComeBack() async throws {
        let (address, _, capability) = try await world.mailbox()
        func post() async -> Response {
            await api.router.respond(
                to: Request(
                    method: .post, target: "/jmap/",
                    headers: [("Authorization", "Bearer \(capability)")],
                    body: Array(#"{\#(Self.using),"methodCalls":[]}"#.utf8)))
        }
        func upload() async -> Response {
            await api.router.respond(
                to: Request(
                    method: .post, target: "/jmap/upload/\(address)/",
                    headers: [("Authorization", "Bearer \(capability)")], body: [1]))
        }
        var places = (0..<4).compactMap { _ in api.agent.mail.work.requests.place(at: address) }
        places += (0..<4).compactMap { _ in api.agent.mail.work.uploads.place(at: address) }
        #expect(places.count == 8)
        try expectProblem(await post(), .badRequest, "limit", limit: "maxConcurrentRequests")
        try expectProblem(await upload(), .badRequest, "limit", limit: "maxConcurrentUpload")
        places = []
        for _ in 0..<9 {
            #expect(await post().status == .ok)
            #expect(await upload().status == .created)
        }
    }

    @Test func withAFullPoolWhatMayTakeLongIsAProblemOfTheServerAndTheRestIsAnswered()
        async throws
    {
        let held = HeldPool(isFull: true)
        let world = try MailWorld(pool: held.pool)
        let (address, _, capability) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.withAttachments, to: address)
        let query =
            #"{\#(Self.using),"methodCalls":[["Email/query",{"accountId":"\#(address)"},"a"]]}"#
        func post(_ json: String) async -> Response {
            await world.api.call(.post, "/jmap/", bearer: capability, json: json)
        }
        func upload() async -> Response {
            await world.api.router.respond(
                to: Request(
                    method: .post, target: "/jmap/upload/\(address)/",
                    headers: [("Authorization", "Bearer \(capability)")],
                    body: [UInt8](repeating: 1, count: 20_000)))
        }
        func part() async -> Response {
            await world.api.call(
                .get, "/jmap/download/\(address)/B\(id.dropFirst())-5/i", bearer: capability)
        }
        let padded = query + String(repeating: " ", count: 20_000)
        for (response, limit) in [
            (await post(query), "maxConcurrentRequests"),
            (await post(padded), "maxConcurrentRequests"),
            (await upload(), "maxConcurrentUpload"), (await part(), "maxConcurrentRequests"),
        ] {
            try expectProblem(response, .serviceUnavailable, "limit", limit: limit)
            #expect(response.header("Retry-After") == "1")
        }
        #expect(await post(#"{\#(Self.using),"methodCalls":[["Core/echo",{},"a"]]}"#).status == .ok)
        #expect(world.api.agent.mail.work.requests.occupancy.keys == 0)
        held.empty()
        #expect(await post(query).status == .ok)
        #expect(await post(padded).status == .ok)
        #expect(await upload().status == .created)
        #expect(await part().status == .ok)
        #expect(held.pool.statistics.reserved == 0)
    }

    // MARK: Blobs

    @Test(arguments: [10, 100_000])
    func anUploadIsDownloadedAsItWas(count: Int) async throws {
        let (address, _, capability) = try await world.mailbox()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let uploaded = await api.router.respond(
            to: Request(
                method: .post, target: "/jmap/upload/\(address)/",
                headers: [
                    ("Authorization", "Bearer \(capability)"), ("Content-Type", "Image/PNG; a=b"),
                ], body: bytes))
        #expect(uploaded.status == .created)
        let blob = try uploaded.json
        #expect(blob.names == ["accountId", "blobId", "type", "size"])
        #expect(blob.text("type") == "image/png" && blob.number("size") == Int64(count))
        let id = try #require(blob.text("blobId"))
        let response = await download("\(address)/\(id)/a%22%2e%2e%5cb.png", capability)
        #expect(response.body == bytes)
        #expect(response.header("Content-Type") == "image/png")
        #expect(response.header("Cache-Control")?.contains("private, immutable") == true)
        #expect(
            response.header("Content-Disposition")
                == "attachment; filename=\"a_.._b.png\"; filename*=UTF-8''a_.._b.png")
    }

    @Test func aDownloadHasTheTypeThatWasAskedForUnlessABrowserRunsIt() async throws {
        let (address, _, capability) = try await world.mailbox()
        let id = try world.mail(of: address).upload(Array("x".utf8), type: "text/html")
        for (asked, given) in [
            ("", "application/octet-stream"), ("?accept=text/plain", "text/plain"),
            ("?accept=text/html", "application/octet-stream"),
            ("?accept=TEXT/HTML", "application/octet-stream"),
            ("?accept=image/svg%2bxml", "application/octet-stream"),
            ("?accept=application/xhtml%2bxml", "application/octet-stream"),
            ("?accept=text/javascript", "application/octet-stream"),
            ("?accept=text/plain%0d%0aX:y", "application/octet-stream"),
            ("?accept=nonsense", "application/octet-stream"),
        ] {
            let response = await download("\(address)/\(id)/x\(asked)", capability)
            #expect(response.header("Content-Type") == given, "\(asked)")
            #expect(response.header("X-Content-Type-Options") == "nosniff")
            #expect(response.header("Content-Security-Policy") == "sandbox; default-src 'none'")
            #expect(response.header("Content-Disposition")?.hasPrefix("attachment;") == true)
        }
    }

    @Test func aPartOfAMessageIsABlob() async throws {
        let (address, _, capability) = try await world.mailbox()
        let id = try await world.deliver(SampleMessage.withAttachments, to: address)
        let message = "B" + id.dropFirst()
        let whole = await download("\(address)/\(message)/m.eml", capability)
        #expect(whole.header("Content-Type") == "message/rfc822")
        let image = await download("\(address)/\(message)-5/i.png", capability)
        #expect(image.body.count == 8 && image.header("Content-Type") == "image/png")
    }

    @Test func anotherAccountOrBlobIsNotFound() async throws {
        let (address, _, capability) = try await world.mailbox()
        let other = try await world.mailbox("other").address
        let id = try world.mail(of: other).upload([1], type: "text/plain")
        for path in [
            "\(other)/\(id)/x", "\(address)/\(id)0/x", "\(address)/Bffff/x", "\(address)/B1-1/x",
            "\(address)/../x",
        ] {
            let response = await download(path, capability)
            #expect(response.status == .notFound, "\(path)")
            _ = try response.agentError
        }
        let upload = await api.call(.post, "/jmap/upload/\(other)/", bearer: capability)
        #expect(upload.status == .notFound)
    }

    @Test func anUploadWithoutRoomIsRejected() async throws {
        var limits = MailLimits()
        limits.totalBytes = 10
        let world = try MailWorld(limits: limits)
        let (address, _, capability) = try await world.mailbox()
        let response = await world.api.router.respond(
            to: Request(
                method: .post, target: "/jmap/upload/\(address)/",
                headers: [("Authorization", "Bearer \(capability)")],
                body: [UInt8](repeating: 1, count: 11)))
        #expect(response.status == .serviceUnavailable)
        #expect(response.header("Retry-After") != nil)
    }

    // MARK: Helpers

    private func post(_ json: String, _ capability: String) async -> Response {
        await api.call(.post, "/jmap/", bearer: capability, json: json)
    }

    private func download(_ path: String, _ capability: String) async -> Response {
        await api.call(.get, "/jmap/download/\(path)", bearer: capability)
    }

    private func expectProblem(
        _ response: Response, _ status: Status, _ type: String, limit: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(response.status == status, sourceLocation: sourceLocation)
        #expect(
            response.header("Content-Type") == "application/problem+json",
            sourceLocation: sourceLocation)
        let body = try response.json
        #expect(
            body.text("type") == "urn:ietf:params:jmap:error:\(type)",
            sourceLocation: sourceLocation)
        #expect(body.number("status") == Int64(status.code), sourceLocation: sourceLocation)
        #expect(body.text("detail")?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(body.text("limit") == limit, sourceLocation: sourceLocation)
    }
}
