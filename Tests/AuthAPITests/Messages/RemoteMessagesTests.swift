import AuthCore
import Fetching
import HTTPEngine
import LocalMail
import Scheduling
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI
@testable import RemoteMail

/// The messages of accounts whose mail is at another server.
struct RemoteMessagesTests {
    /// Every endpoint.
    private static let endpoints: [(method: HTTPEngine.Method, path: String, json: String?)] = [
        (.get, "", nil), (.get, "/wait?timeout=0", nil), (.put, "/read", #"{"all":true}"#),
        (.get, "/M1", nil), (.delete, "/M1", nil), (.put, "/M1/read", nil),
        (.get, "/M1/source", nil), (.get, "/M1/attachments/0", nil),
    ]

    private let requests = Record<OutboundRequest>()
    private let reports = Record<String>()
    private let tokens = Record<String>()

    /// All APIs with a mail store that answers like this.
    private func world(
        subject: MailSubject = .address, domain: String = "mail.test",
        _ answer: @escaping @Sendable () throws -> FetchedResponse
    ) throws -> APIWorld {
        let settings = RemoteStore.Settings(
            storeURL: "http://store.test", clientURL: "https://mail.test", sessionPath: "/jmap/",
            timeout: .seconds(1), credentialLifetime: .seconds(60))
        let store = RemoteStore(settings, report: { [reports] in reports.add($0) }) {
            [requests] _, request, _ in
            requests.add(request)
            return try answer()
        }
        let names = MailNames(
            subject: subject, firstDomain: try #require(Domain(parsing: domain)))
        let remote = RemoteAccounts(store: store) { [tokens] account, _ in
            tokens.add(account.address.description)
            return "the-token"
        }
        return try APIWorld(
            mail: AccountsMail(
                local: nil, names: names,
                work: MailWork(pool: WorkerPool(name: "mail", lanes: 1, depth: 0)), remote: remote))
    }

    private func responses(of api: APIWorld) async throws -> [Response] {
        let token = try await api.account("demo@mail.test").token
        var responses: [Response] = []
        for (method, path, json) in Self.endpoints {
            responses.append(
                await api.call(
                    method, "/api/accounts/demo@mail.test/messages\(path)", bearer: token,
                    json: json))
        }
        return responses
    }

    @Test func aStoreThatIsAwayIs503() async throws {
        let api = try world { throw OutboundError.unreachable }
        for response in try await responses(of: api) {
            try expectError(response, 503, "mail_store_unavailable")
            #expect(response.header("Retry-After") == "5")
        }
        #expect(reports.entries.count == Self.endpoints.count)
    }

    @Test func aStoreThatAnswersNonsenseIs502() async throws {
        let api = try world { FetchedResponse(status: 200, headers: [], body: [0x7b]) }
        for response in try await responses(of: api) {
            try expectError(response, 502, "mail_store_error")
            #expect(!response.body.contains(Array("session".utf8)))
        }
        #expect(Set(reports.entries) == ["its session is not a JSON object"])
    }

    @Test func theStoreIsAskedWithACapabilityOfTheAccount() async throws {
        let api = try world { FetchedResponse(status: 500, headers: [], body: []) }
        _ = try await responses(of: api)
        #expect(Set(tokens.entries) == ["demo@mail.test"])
        #expect(
            requests.entries.allSatisfy { request in
                request.url == "http://store.test/jmap/"
                    && request.headers.contains {
                        $0.name == "Authorization" && $0.value == "Bearer the-token"
                    }
            })
    }

    @Test func anAccountThatTheStoreCouldTakeForAnotherIs403() async throws {
        let api = try world(subject: .localPart, domain: "first.test") {
            throw OutboundError.unreachable
        }
        for response in try await responses(of: api) {
            try expectError(response, 403, "forbidden")
        }
        #expect(requests.entries.isEmpty)
    }

    @Test func usedIsWhatWasReported() async throws {
        let api = try world { throw OutboundError.unreachable }
        let token = try await api.account("demo@mail.test").token
        _ = try await api.world.mailServices.note([("demo@mail.test", 7)])
        let shown = await api.call(.get, "/api/accounts/demo@mail.test", bearer: token)
        #expect(try shown.json.number("used") == 7)
        #expect(requests.entries.isEmpty)
    }
}
