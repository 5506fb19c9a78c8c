internal import AuthCore
internal import HTTPEngine
internal import JMAP
internal import LocalMail
internal import StrictJSON

/// `/delivered` and `/delivered/dovecot`: mail stores report messages that have arrived.
struct DeliveredEndpoints: Sendable {
    /// Messages that one request reports.
    private static let limit = 100

    let services: MailServices
    let events: WebhookEvents
    let access: ServicesAccess
    let pipeline: Pipeline<ServicesError>

    var routes: [Route] {
        [
            pipeline.route(.post, "/delivered", body: .json, access.inAuthorization, note),
            // Dovecot sends "application/json;charset=utf-8".
            pipeline.route(
                .put, "/delivered/dovecot", body: .json, access.inAuthorization, noteDovecot),
        ]
    }

    /// POST /delivered
    private func note(_ request: APIRequest<Void>) async throws(ServicesError) -> Response {
        var reports: [MailServices.Delivered] = []
        for item in try JSONBody<ServicesError>.list(request.http, atMost: Self.limit) {
            let address = try item.requiredString("address")
            reports.append(
                .init(
                    name: address,
                    mail: ReceivedMail(
                        address: address, messageID: try item.string("message_id"),
                        from: try item.string("from") ?? "",
                        subject: try item.string("subject") ?? "",
                        preview: try item.string("preview_text") ?? "",
                        size: try item.size())))
        }
        return try await add(reports, request.caller)
    }

    /// PUT /delivered/dovecot: what Dovecot's push notification driver `ox` sends.
    private func noteDovecot(
        _ request: APIRequest<Void>
    ) async throws(ServicesError) -> Response {
        let body = try JSONBody<ServicesError>(request.http)
        let user = try body.requiredString("user")
        // Dovecot also reports flags that were changed, and messages that were copied.
        guard try body.string("event") == "messageNew" else {
            return try await add([], request.caller)
        }
        let (from, subject) = Self.decoded(
            from: try body.string("from") ?? "", subject: try body.string("subject") ?? "")
        let report = MailServices.Delivered(
            name: user,
            mail: ReceivedMail(
                address: user, from: from, subject: subject,
                preview: try body.string("snippet") ?? "", size: nil))
        return try await add([report], request.caller)
    }

    /// Dovecot sends the values of the header fields as they are in the message.
    /// - Returns: the address of the first author, and the subject without encoded words.
    private static func decoded(from: String, subject: String) -> (from: String, subject: String) {
        func line(_ value: String) -> String {
            String(String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 0x20 }))
        }
        let header = "From: \(line(from))\r\nSubject: \(line(subject))\r\n\r\n"
        let summary = MIMEReader().summary(of: Array(header.utf8))
        return (summary.from.first?.email ?? from, summary.subject ?? subject)
    }

    private func add(
        _ reports: [MailServices.Delivered], _ caller: Caller
    ) async throws(ServicesError) -> Response {
        let unknown = try await services.noteDelivered(reports, events: events, at: caller.now)
        return .json(.ok) { $0.member("unknown", unknown) }
    }
}

extension JSONBody {
    fileprivate func size() throws(Failure) -> Int64? {
        switch value("size") {
        case nil: return nil
        case .integer(let bytes) where bytes >= 0: return bytes
        default: throw .malformed("`size` must be a whole number of bytes.")
        }
    }
}
