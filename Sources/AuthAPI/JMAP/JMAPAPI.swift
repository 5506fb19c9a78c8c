internal import AuthCore
internal import HTTPEngine
internal import JMAP
internal import LocalMail
internal import Networking
internal import Scheduling
internal import StrictJSON

/// JMAP for the mail in this process: the endpoints that the session object names (docs/api.md,
/// "JMAP").
///
/// Small requests run on the connection's loop. Those that may read many or large messages run on
/// the threads of Swift's tasks; the limits of an account's requests at once bound them.
struct JMAPAPI: Sendable {
    static let uploads = "/jmap/upload/"

    /// The most bytes of a body that is read on the loop.
    private static let immediateBytes = 16_384

    private let agent: AgentAPI
    private let local: LocalMail
    private let sessions: LocalSessions
    private let dispatcher = Dispatcher()
    private let errors: JMAPErrors
    private let pipeline: Pipeline<JMAPError>
    /// By account.
    let requests: KeyedLimiter<String>
    let uploads: KeyedLimiter<String>

    /// - Returns: `nil` unless there is mail in this process.
    init?(agent: AgentAPI) {
        guard let local = agent.mail.local, let sessions = agent.localSessions else { return nil }
        self.agent = agent
        self.local = local
        self.sessions = sessions
        let errors = JMAPErrors(agent: agent.errors)
        self.errors = errors
        pipeline = Pipeline(
            limiter: agent.pipeline.limiter, clock: agent.pipeline.clock,
            events: agent.pipeline.events
        ) { error, _ in errors.response(error) }
        requests = KeyedLimiter(width: sessions.limits.maxConcurrentRequests)
        uploads = KeyedLimiter(width: sessions.limits.maxConcurrentUpload)
    }

    var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/jmap"], errors: errors.renderer,
            routes: [
                pipeline.route(
                    .post, "/jmap/", body: .json, bodyLimit: sessions.limits.maxSizeRequest,
                    capability, callMethods),
                pipeline.route(
                    .post, "/jmap/upload/{accountId}/", bodyLimit: sessions.limits.maxSizeUpload,
                    capability, upload),
                pipeline.route(
                    .get, "/jmap/download/{accountId}/{blobId}/{name}", capability, download),
                pipeline.route(.get, "/jmap/eventsource/", capability, openEventSource),
            ])
    }

    private var capability: Authentication<AccountMail, JMAPError> {
        Authentication(limit: .general) { request, caller throws(JMAPError) in
            do throws(AgentError) {
                let mailbox = try await agent.agents.authenticate(
                    capability: request.bearerToken, at: caller.now)
                return local.mail(of: agent.mail.account(of: mailbox.account))
            } catch {
                throw JMAPError(error)
            }
        }
    }

    // MARK: Endpoints

    /// POST /jmap/
    private func callMethods(
        _ request: APIRequest<AccountMail>
    ) async throws(JMAPError) -> Response {
        let mail = request.principal
        guard let place = requests.place(at: mail.account.id) else {
            throw .request(.limit("maxConcurrentRequests"))
        }
        defer { withExtendedLifetime(place) {} }
        do throws(JMAPRequestError) {
            let body = try await response(to: request.http.body, for: mail)
            return Response(
                status: .ok,
                headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
                body: body)
        } catch {
            throw .request(error)
        }
    }

    /// POST /jmap/upload/{accountId}/
    private func upload(_ request: APIRequest<AccountMail>) async throws(JMAPError) -> Response {
        let mail = try mail(of: request)
        guard let place = uploads.place(at: mail.account.id) else {
            throw .request(.limit("maxConcurrentUpload"))
        }
        defer { withExtendedLifetime(place) {} }
        let body = request.http.body
        let type = request.http.headers.mediaType.flatMap(MediaType.name) ?? MediaType.unknown
        let id: String
        do throws(UploadError) {
            id =
                body.count > Self.immediateBytes
                ? try await keep(body, type: type, in: mail) : try mail.upload(body, type: type)
        } catch {
            switch error {
            case .tooLarge: throw .request(.limit("maxSizeUpload"))
            case .overQuota: throw .noRoom
            }
        }
        return .json(.created) { members in
            members.member("accountId", mail.account.id)
            members.member("blobId", id)
            members.member("type", type)
            members.member("size", body.count)
        }
    }

    /// GET /jmap/download/{accountId}/{blobId}/{name}?accept={type}
    private func download(_ request: APIRequest<AccountMail>) async throws(JMAPError) -> Response {
        let mail = try mail(of: request)
        let type = try QueryFields<JMAPError>(request.http).text("accept")
        guard let id = request.http.parameters["blobId"],
            let blob = try await blob(id, of: mail)
        else { throw .notFound }
        let name = SafeFilename.make(request.http.parameters["name"], fallback: "download")
        var headers = DownloadFields.all(
            type: MediaType.requested(type ?? blob.type), filename: name)
        // RFC 8620 §6.2: a blob never changes.
        headers.append(("Cache-Control", "private, immutable, max-age=31536000"))
        return Response(status: .ok, headers: headers, body: blob.bytes)
    }

    /// GET /jmap/eventsource/?types={types}&closeafter={closeafter}&ping={ping}
    private func openEventSource(
        _ request: APIRequest<AccountMail>
    ) async throws(JMAPError) -> Response {
        let wishes = try EventWishes(request.http)
        guard let place = agent.mail.waits.place(at: request.caller.address.client) else {
            throw .tooManyStreams
        }
        let events = EventStream(of: request.principal, wishes)
        var response = Response(
            status: .ok,
            headers: [
                ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
                // nginx would keep events back until it has 4 KiB of them.
                ("X-Accel-Buffering", "no"),
            ], body: EventStream.beginning)
        response.stream = events.open(holding: place)
        return response
    }

    /// The caller's mail, if the path names the caller's account.
    private func mail(of request: APIRequest<AccountMail>) throws(JMAPError) -> AccountMail {
        guard request.http.parameters["accountId"] == request.principal.account.id else {
            throw .notFound
        }
        return request.principal
    }

    // MARK: Work that may take long

    private func response(
        to body: [UInt8], for mail: AccountMail
    ) async throws(JMAPRequestError) -> [UInt8] {
        let state = sessions.state(of: mail.account)
        guard body.count <= Self.immediateBytes else {
            return try await responseElsewhere(to: body, for: mail, state)
        }
        let request = try JMAPRequest(body, limits: sessions.limits)
        return request.calls.allSatisfy(\.isQuick)
            ? await dispatcher.respond(to: request, for: mail, sessionState: state)
            : await responseElsewhere(to: request, for: mail, state)
    }

    @concurrent
    private func responseElsewhere(
        to body: [UInt8], for mail: AccountMail, _ state: String
    ) async throws(JMAPRequestError) -> [UInt8] {
        let request = try JMAPRequest(body, limits: sessions.limits)
        return await dispatcher.respond(to: request, for: mail, sessionState: state)
    }

    @concurrent
    private func responseElsewhere(
        to request: JMAPRequest, for mail: AccountMail, _ state: String
    ) async -> [UInt8] {
        await dispatcher.respond(to: request, for: mail, sessionState: state)
    }

    @concurrent
    private func keep(
        _ body: [UInt8], type: String, in mail: AccountMail
    ) async throws(UploadError) -> String {
        try mail.upload(body, type: type)
    }

    /// A whole message or upload is found at once. For a part of one the message is read.
    private func blob(_ id: String, of mail: AccountMail) async throws(JMAPError) -> MailBlob? {
        guard id.utf8.contains(UInt8(ascii: "-")) else { return mail.blob(id) }
        guard let place = requests.place(at: mail.account.id) else {
            throw .request(.limit("maxConcurrentRequests"))
        }
        defer { withExtendedLifetime(place) {} }
        return await part(id, of: mail)
    }

    @concurrent
    private func part(_ id: String, of mail: AccountMail) async -> MailBlob? {
        var reader = BlobReader(mail)
        return reader.blob(id)
    }
}

extension Invocation {
    /// Methods that read no message and look at few objects.
    private static let quick: Set = [
        "Core/echo", "Mailbox/get", "Mailbox/query", "Mailbox/changes", "Mailbox/queryChanges",
        "Thread/get", "Thread/changes", "Identity/get", "Identity/changes", "Email/changes",
        "EmailSubmission/get", "EmailSubmission/changes", "EmailSubmission/query",
    ]

    fileprivate var isQuick: Bool { Self.quick.contains(name) }
}
