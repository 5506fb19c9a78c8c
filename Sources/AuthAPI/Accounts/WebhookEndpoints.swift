internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/webhooks/…`. A webhook tells of the mail of all accounts, so API tokens need their
/// scope.
struct WebhookEndpoints: Sendable {
    private static let path = "/api/user/webhooks"
    private static let one = path + "/{webhook_id}"

    let webhooks: Webhooks
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        let user = access.user(.accounts)
        return [
            pipeline.route(.get, Self.path, user, list),
            pipeline.route(.post, Self.path, body: .json, user, create),
            pipeline.route(.delete, Self.one, user, remove),
            pipeline.route(.post, Self.one + "/rotate", user, rotate),
            pipeline.route(.post, Self.one + "/test", user, test),
            pipeline.route(.get, Self.one + "/deliveries", user, deliveries),
        ]
    }

    /// GET /api/user/webhooks
    private func list(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let webhooks = try await webhooks.list(of: request.principal)
        return .json(.ok) { body in
            body.array("webhooks") { list in
                for webhook in webhooks { list.element { $0.write(webhook) } }
            }
        }
    }

    /// POST /api/user/webhooks
    private func create(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let issued = try await webhooks.create(
            url: try body.requiredString("url"), events: try body.webhookEvents(),
            for: request.principal, by: request.caller)
        return Self.response(.created, issued)
    }

    /// DELETE /api/user/webhooks/{webhook_id}
    private func remove(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        try await webhooks.remove(
            request.http.webhookID, of: request.principal, by: request.caller)
        return Response(status: .noContent)
    }

    /// POST /api/user/webhooks/{webhook_id}/rotate
    private func rotate(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        Self.response(
            .ok,
            try await webhooks.rotate(
                request.http.webhookID, of: request.principal, by: request.caller))
    }

    /// POST /api/user/webhooks/{webhook_id}/test
    private func test(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let event = try await webhooks.sendTest(
            to: request.http.webhookID, of: request.principal, by: request.caller)
        return .json(.accepted) { $0.member("event_id", event) }
    }

    /// GET /api/user/webhooks/{webhook_id}/deliveries
    private func deliveries(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let attempts = try await webhooks.deliveries(
            of: request.http.webhookID, of: request.principal)
        return .json(.ok) { body in
            body.array("deliveries") { list in
                for attempt in attempts { list.element { $0.write(attempt) } }
            }
        }
    }

    private static func response(_ status: Status, _ issued: Webhooks.Issued) -> Response {
        .json(status) { body in
            body.write(issued.webhook)
            body.member("secret", issued.secret)
        }
    }
}

extension Request {
    fileprivate var webhookID: WebhookID? { parameters["webhook_id"].flatMap(WebhookID.init) }
}

extension JSONBody {
    /// All kinds of events where the member is absent.
    fileprivate func webhookEvents() throws(Failure) -> Set<Webhook.EventKind> {
        let known = Webhook.EventKind.subscribed
        guard let value = value("events") else { return Set(known) }
        let kinds = value.array?.map { item in known.first { $0.rawValue == item.string } }
        guard let kinds, !kinds.isEmpty, !kinds.contains(nil) else {
            throw .malformed("`events` must be a list of `email.received`.")
        }
        return Set(kinds.compactMap { $0 })
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ webhook: Webhook) {
        member("id", webhook.id.text)
        member("url", webhook.url)
        member("events", webhook.events.map(\.rawValue).sorted())
        member("status", webhook.status.rawValue)
        member("failure_count", webhook.failures)
        member("last_triggered_at", webhook.lastTriggered?.rfc3339)
        member("created_at", webhook.created.rfc3339)
    }

    fileprivate mutating func write(_ attempt: WebhookAttempt) {
        member("id", attempt.id.text)
        member("event_type", attempt.kind.rawValue)
        member("event_id", attempt.eventID)
        if let status = attempt.status {
            member("status_code", status)
        } else {
            null("status_code")
        }
        member("error", attempt.error)
        member("attempt", attempt.number)
        member("duration_ms", attempt.milliseconds)
        member("created_at", attempt.time.rfc3339)
    }
}
