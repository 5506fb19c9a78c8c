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
/// Small requests run on the connection's loop. Those that may read many or large messages run in
/// ``MailWork/pool``, in which an account has only as many as the session object says.
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
    private var work: MailWork { agent.mail.work }

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
        guard let place = work.requests.place(at: mail.account.id) else {
            throw .request(.limit("maxConcurrentRequests"))
        }
        defer { withExtendedLifetime(place) {} }
        let body = try await response(to: request, for: mail)
        return Response(
            status: .ok,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: body)
    }

    /// POST /jmap/upload/{accountId}/
    private func upload(_ request: APIRequest<AccountMail>) async throws(JMAPError) -> Response {
        let mail = try mail(of: request)
        guard let place = work.uploads.place(at: mail.account.id) else {
            throw .request(.limit("maxConcurrentUpload"))
        }
        defer { withExtendedLifetime(place) {} }
        let body = request.http.body
        let type = request.http.headers.mediaType.flatMap(MediaType.name) ?? MediaType.unknown
        let id: String
        if body.count > Self.immediateBytes {
            id = try await elsewhere(for: request.caller, "maxConcurrentUpload") {
                try Self.keep(body, type: type, in: mail)
            }
        } else {
            id = try Self.keep(body, type: type, in: mail)
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
            let blob = try await blob(id, of: request, mail)
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
        guard let place = work.waits.place(at: request.caller.address.client) else {
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
        to request: APIRequest<AccountMail>, for mail: AccountMail
    ) async throws(JMAPError) -> [UInt8] {
        let body = request.http.body
        let state = sessions.state(of: mail.account)
        let (limits, dispatcher) = (sessions.limits, dispatcher)
        guard body.count <= Self.immediateBytes else {
            return try await elsewhere(for: request.caller, "maxConcurrentRequests") {
                let calls = try Self.calls(in: body, limits)
                return await dispatcher.respond(to: calls, for: mail, sessionState: state)
            }
        }
        let calls = try Self.calls(in: body, limits)
        if let response = await dispatcher.respondBriefly(
            to: calls, for: mail, sessionState: state)
        {
            return response
        }
        return try await elsewhere(for: request.caller, "maxConcurrentRequests") {
            await dispatcher.respond(to: calls, for: mail, sessionState: state)
        }
    }

    private static func calls(
        in body: [UInt8], _ limits: JMAPLimits
    ) throws(JMAPError) -> JMAPRequest {
        do throws(JMAPRequestError) {
            return try JMAPRequest(body, limits: limits)
        } catch {
            throw .request(error)
        }
    }

    private static func keep(
        _ body: [UInt8], type: String, in mail: AccountMail
    ) throws(JMAPError) -> String {
        do throws(UploadError) {
            return try mail.upload(body, type: type)
        } catch {
            switch error {
            case .tooLarge: throw .request(.limit("maxSizeUpload"))
            case .overQuota: throw .noRoom
            }
        }
    }

    /// A whole message or upload is found at once. For a part of one the message is read.
    private func blob(
        _ id: String, of request: APIRequest<AccountMail>, _ mail: AccountMail
    ) async throws(JMAPError) -> MailBlob? {
        guard id.utf8.contains(UInt8(ascii: "-")) else { return mail.blob(id) }
        guard let place = work.requests.place(at: mail.account.id) else {
            throw .request(.limit("maxConcurrentRequests"))
        }
        defer { withExtendedLifetime(place) {} }
        return try await elsewhere(for: request.caller, "maxConcurrentRequests") {
            var reader = BlobReader(mail)
            return reader.blob(id)
        }
    }

    /// Does something in the pool.
    /// - Parameter limit: the one that a client is told when the pool is full.
    private func elsewhere<T: Sendable>(
        for caller: Caller, _ limit: String,
        _ work: @escaping @Sendable () async throws -> T
    ) async throws(JMAPError) -> T {
        do {
            return try await self.work.pool.reserve(for: caller.address).runKeepingLane(work)
        } catch let error as JMAPError {
            throw error
        } catch let full as WorkerPool.Full {
            throw .busy(limit: limit, retryAfter: full.retryAfter)
        } catch {
            throw .common(CommonError(error))
        }
    }
}
