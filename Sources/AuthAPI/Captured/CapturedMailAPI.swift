public import AuthCore
internal import CEmbeddedFiles
public import HTTPEngine
public import LocalMail
internal import StrictJSON

/// `/mail` and `/mail/messages…`: everything that was delivered or captured, for the developer of
/// an application that sends mail (docs/api.md, "Web pages"). For the development and test
/// profiles.
///
/// There are no credentials, so the browser's rules protect the mail: other origins get 403, and so
/// does every other host name than that of the public URL (``PublicHost``). No rate limits, as in
/// ``TestAPI``.
public struct CapturedMailAPI: Sendable {
    private static let timeoutSeconds = 0...60
    /// The most bytes of a message that is read on the loop.
    private static let immediateBytes = 16_384

    private let mail: LocalMail
    private let host: PublicHost
    private let page: Response
    private let pipeline: Pipeline<AccountsError>
    private let errors = AccountsErrors()

    public init(mail: LocalMail, agent: AgentAPI, clock: ServerClock) {
        self.mail = mail
        let publicURL = agent.errors.publicURL
        host = PublicHost(publicURL: publicURL)
        page = PageLayout(publicURL: publicURL, hasMailPage: true).page(
            title: "Mail", at: (.mail, .page), script: "/web/captured.js", showsMail: true,
            main: HTMLText(
                markup: Template.fill(EmbeddedFile.mail_html.bytes, MailMarkup.values)))
        let errors = errors
        pipeline = Pipeline(limiter: nil, clock: clock, events: nil) { error, _ in
            errors.response(error)
        }
    }

    public var routes: RouteGroup {
        let access = Authentication<Void, AccountsError>(limit: .general) {
            [host] request, _ throws(AccountsError) in
            guard host.isNamed(by: request), !request.isCrossOrigin else { throw .forbidden }
        }
        let message = "/mail/messages/{number}"
        return RouteGroup(
            prefixes: ["/mail"], errors: errors.renderer,
            routes: [
                host.route("/mail", page),
                pipeline.route(.get, "/mail/messages", access, list),
                pipeline.route(.delete, "/mail/messages", access, clear),
                pipeline.route(.get, message, access, show),
                pipeline.route(.get, message + "/source", access, source),
                pipeline.route(.get, message + "/attachments/{index}", access, attachment),
            ])
    }

    // MARK: Endpoints

    /// GET /mail/messages?page= and GET /mail/messages?after=&timeout=
    ///
    /// The first is a page of all, newest first. The second is what arrived after a message, newest
    /// first, as soon as there is something. Of more than a page's length the oldest are returned,
    /// so that the caller can go on from the first of the list.
    private func list(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let query = QueryFields<AccountsError>(request.http)
        let page = try query.number("page", in: 1...1_000_000, default: 1)
        let seconds = try query.number("timeout", in: Self.timeoutSeconds, default: 0)
        guard try query.text("after") != nil else {
            let skipped = (page - 1) * MessagePage.length
            let found = mail.delivered().reversed().dropFirst(skipped).prefix(MessagePage.length)
            return Self.response(Array(found)) { $0.member("page", page) }
        }
        let after = try query.number("after", in: 0...Int.max, default: 0)
        let found = await mail.delivered(
            after: after, until: request.caller.arrival + .seconds(seconds), where: { _ in true })
        return Self.response(found.prefix(MessagePage.length).reversed())
    }

    /// DELETE /mail/messages
    private func clear(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        mail.clearDelivered()
        return Response(status: .noContent)
    }

    /// GET /mail/messages/{number}
    private func show(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let message = try message(of: request)
        let content = try await read(message) { try $0.body(of: $1) }
        return .json(.ok) { body in
            body.write(message)
            body.write(content)
        }
    }

    /// GET /mail/messages/{number}/source
    private func source(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let message = try message(of: request)
        return Self.download(
            message.content.bytes, type: "message/rfc822", filename: "\(message.number).eml")
    }

    /// GET /mail/messages/{number}/attachments/{index}
    private func attachment(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let message = try message(of: request)
        guard let index = number("index", of: request) else { throw .notFound }
        let found = try await read(message) { try $0.attachment(index, of: $1) }
        guard let found else { throw .notFound }
        return Self.download(
            found.content, type: MediaType.ofAttachment(found.attachment.mediaType),
            filename: found.attachment.filename(at: index))
    }

    // MARK: Input

    private func message(of request: APIRequest<Void>) throws(AccountsError) -> DeliveredMessage {
        guard let number = number("number", of: request), number > 0,
            let found = mail.delivered(after: number - 1).first, found.number == number
        else { throw .notFound }
        return found
    }

    /// A number in the path: decimal digits without a zero before them, so that a thing has one
    /// path.
    private func number(_ name: String, of request: APIRequest<Void>) -> Int? {
        guard let text = request.http.parameters[name], let number = Int(text), number >= 0,
            String(number) == text
        else { return nil }
        return number
    }

    private func read<T: Sendable>(
        _ message: DeliveredMessage,
        _ read: @Sendable (any MessageReader, [UInt8]) throws -> T
    ) async throws(AccountsError) -> T {
        let source = message.content.bytes
        do {
            return source.count > Self.immediateBytes
                ? try await readElsewhere(source, read) : try read(mail.reader, source)
        } catch {
            throw .common(.failed(error))
        }
    }

    @concurrent
    private func readElsewhere<T: Sendable>(
        _ source: [UInt8], _ read: @Sendable (any MessageReader, [UInt8]) throws -> T
    ) async throws -> T {
        try read(mail.reader, source)
    }

    // MARK: Output

    private static func response(
        _ messages: [DeliveredMessage], _ more: (inout JSONWriter) -> Void = { _ in }
    ) -> Response {
        .json(.ok) { body in
            body.array("messages") { list in
                for message in messages { list.element { $0.write(message) } }
            }
            more(&body)
        }
    }

    private static func download(_ bytes: [UInt8], type: String, filename: String) -> Response {
        Response(
            status: .ok,
            headers: DownloadFields.all(type: type, filename: filename)
                + [("Cache-Control", "no-store")], body: bytes)
    }
}

extension JSONWriter {
    /// The members of a message of an account in a list, and the envelope. Nobody reads captured
    /// mail, so none counts as unread.
    fileprivate mutating func write(_ message: DeliveredMessage) {
        let summary = message.content.summary
        let author = summary.from.first ?? summary.sender.first
        write(
            MessageListing(
                id: String(message.number), sender: author?.display ?? "",
                from: author?.email ?? "", subject: summary.subject ?? "",
                preview: summary.preview, size: message.content.bytes.count, isRead: true,
                receivedAt: message.arrivedAt))
        member("to", message.results.map(\.recipient))
        member("mail_from", message.mailFrom)
    }
}
