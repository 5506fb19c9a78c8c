import Fetching
import JMAP
import LocalMail
import Networking
import StrictJSON
import Synchronization
import TestPrimitives
import TestSupport

@testable import RemoteMail

/// A mail store that answers with the mail of this module's own server, and mail that asks it.
final class StoreWorld: Sendable {
    typealias Answer = @Sendable (OutboundRequest) async throws -> FetchedResponse?

    static let account = MailAccount(id: "ann", address: "ann@here.test")
    private static let client = IPAddress(v4: 0xc000_0201)

    let local: LocalMail
    let reports = Record<String>()
    let requests = Record<OutboundRequest>()
    let tokens = Record<String>()
    private let state: State

    private final class State: Sendable {
        /// The answer of a test in place of the store's; `nil` for the store's.
        let answer = Mutex<Answer>({ _ in nil })
        let now = Mutex<Int64>(1_700_000_000_000)
    }

    init() {
        let state = State()
        self.state = state
        local = LocalMail(
            MailEnvironment(
                reader: MIMEReader(),
                now: { MailInstant(milliseconds: state.now.withLock { $0 }) },
                random: { 7 },
                owner: { address in
                    .account(
                        MailAccount(id: String(address.prefix { $0 != "@" }), address: address))
                }, quota: { _ in 40 << 20 }))
    }

    /// In place of the store's next answers.
    func answer(_ answer: @escaping Answer) { state.answer.withLock { $0 = answer } }

    func answer(_ status: Int, _ body: String) {
        answer { _ in FetchedResponse(status: status, headers: [], body: Array(body.utf8)) }
    }

    /// In place of the answers to method calls.
    func answerCalls(_ body: String) {
        answer { request in
            guard request.method == .post else { return nil }
            return FetchedResponse(status: 200, headers: [], body: Array(body.utf8))
        }
    }

    func advance(_ milliseconds: Int64) { state.now.withLock { $0 += milliseconds } }

    /// The mail at the store, as a new server sees it.
    func mail(poll: Duration = .milliseconds(1)) -> RemoteMail {
        var settings = RemoteStore.Settings(
            storeURL: "http://store.test:8008/base", clientURL: "https://mail.test",
            sessionPath: "/jmap/session", timeout: .seconds(2), credentialLifetime: .seconds(60))
        settings.pollIntervals = .init(first: poll, withoutEvents: poll, withEvents: poll)
        let store = RemoteStore(settings, report: { self.reports.add($0) }) {
            [requests] _, request, _ in
            requests.add(request)
            return try await self.respond(to: request)
        }
        return store.mail(for: Self.client) { () async throws(MailStoreError) in
            let token = "token\(self.tokens.entries.count + 1)"
            self.tokens.add(token)
            return token
        }
    }

    @discardableResult
    func deliver(_ message: String = SampleMessage.text, to name: String = "ann") async -> String {
        let source = Array(message.replacing("\n", with: "\r\n").utf8)
        let results = await local.deliver(
            source, from: "bob@example.com", to: ["\(name)@here.test"])
        if case .delivered(_, let id)? = results.first?.outcome { return id }
        return ""
    }

    /// Moves a message into the folder with a role.
    func move(_ id: String, to role: FolderRole) throws {
        let box = local.mail(of: Self.account)
        let folder = box.folders().list.first { $0.role == role }
        var set = EmailSet()
        set.update = [(id, EmailPatch(folderIDs: .replace([folder?.id ?? ""])))]
        _ = try box.setEmails(set)
    }

    /// What a call fails with, as a word.
    enum Failure {
        case notFound, unavailable, invalidResponse, failed, none
    }

    static func failure(_ ask: () async throws -> Void) async -> Failure {
        do {
            try await ask()
            return .none
        } catch let error as MailStoreError {
            switch error {
            case .notFound: return .notFound
            case .unavailable: return .unavailable
            case .invalidResponse: return .invalidResponse
            case .failed: return .failed
            }
        } catch {
            return .none
        }
    }

    private func respond(to request: OutboundRequest) async throws -> FetchedResponse {
        let answer = state.answer.withLock { $0 }
        if let answer = try await answer(request) { return answer }
        let path = request.url.dropFirst("http://store.test:8008".utf8.count)
        let box = local.mail(of: Self.account)
        func ok(_ body: [UInt8]) -> FetchedResponse {
            FetchedResponse(status: 200, headers: [], body: body)
        }
        if path == "/base/jmap/session" { return ok(Array(Self.session.utf8)) }
        if path == "/jmap/" {
            let limits = JMAPLimits(local.limits)
            let call = try JMAPRequest(request.body, limits: limits)
            return ok(await Dispatcher().respond(to: call, for: box, sessionState: "s"))
        }
        let parts = path.split(separator: "/")
        if parts.count == 5, parts[..<3] == ["jmap", "download", "ann"] {
            var reader = BlobReader(box)
            if let blob = reader.blob(String(parts[3])) { return ok(blob.bytes) }
        }
        return FetchedResponse(status: 404, headers: [], body: [])
    }

    static let session = """
        {"capabilities":{"urn:ietf:params:jmap:core":{"maxObjectsInGet":3,"maxObjectsInSet":2}},
         "accounts":{"ann":{"accountCapabilities":{"urn:ietf:params:jmap:mail":{}}}},
         "primaryAccounts":{"urn:ietf:params:jmap:mail":"ann"},"username":"ann","state":"s",
         "apiUrl":"/jmap/",
         "downloadUrl":"/jmap/download/{accountId}/{blobId}/{name}",
         "eventSourceUrl":"https://mail.test/jmap/events?t={types}&c={closeafter}&p={ping}"}
        """
}
