internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import LocalMail
internal import Networking
internal import Scheduling
internal import StrictJSON

/// `/test/messages` and `/test/mail`.
struct TestMailEndpoints: Sendable {
    typealias Call = APIRequest<Void>

    /// A message of the largest size in Base64.
    private static let bodyBytes = 16 << 20
    private static let page = 100
    private static let maximumPage = 1000
    private static let maximumWaitSeconds = 60

    /// `nil` where this server has no mail.
    let mail: TestMail?
    /// The waits of every client, those of the other APIs included.
    let work: MailWork
    let pipeline: Pipeline<AccountsError>
    let access: Authentication<Void, AccountsError>

    var routes: [Route] {
        [
            pipeline.route(
                .post, "/test/messages", body: .json, bodyLimit: Self.bodyBytes, access, deliver),
            pipeline.route(.get, "/test/messages", isLongPoll: true, access, list),
            pipeline.route(.delete, "/test/messages", access, clear),
            pipeline.route(.get, "/test/messages/{number}/source", access, source),
            pipeline.route(.post, "/test/mail", body: .json, access, setFault),
        ]
    }

    private func present() throws(AccountsError) -> TestMail {
        guard let mail else { throw .mailStoreMissing }
        return mail
    }

    // MARK: Reading

    /// GET /test/messages?to=&from=&subject=&after=&limit=&timeout=
    private func list(_ request: Call) async throws(AccountsError) -> Response {
        let query = QueryFields<AccountsError>(request.http)
        let filter = TestMail.Filter(
            recipient: try query.text("to"), sender: try query.text("from"),
            subject: try query.text("subject"))
        let after = try query.number("after", in: 0...Int.max, default: 0)
        let limit = try query.number("limit", in: 1...Self.maximumPage, default: Self.page)
        let seconds = try query.number("timeout", in: 0...Self.maximumWaitSeconds, default: 0)
        // Not by the server's clock, which the suite sets.
        let deadline = seconds == 0 ? nil : ContinuousClock.now.advanced(by: .seconds(seconds))
        let mail = try present()
        let place = seconds == 0 ? nil : work.waits.place(at: request.caller.address.client)
        if seconds > 0, place == nil { throw .tooManyWaits }
        defer { withExtendedLifetime(place) {} }
        let messages: [TestMessage]
        do throws(TestMailError) {
            messages = try await mail.messages(
                filter, after: after, limit: limit, until: deadline)
        } catch {
            throw AccountsError(error)
        }
        return .json(.ok) { body in
            body.array("messages") { list in
                for message in messages { list.element { message.write(to: &$0) } }
            }
            body.member("last", messages.last?.number ?? after)
        }
    }

    /// GET /test/messages/{number}/source
    private func source(_ request: Call) async throws(AccountsError) -> Response {
        guard let number = request.http.parameters["number"].flatMap({ Int($0) }),
            let bytes = try present().source(ofMessage: number)
        else { throw .notFound }
        return Response(
            status: .ok,
            headers: [("Content-Type", "message/rfc822"), ("Cache-Control", "no-store")],
            body: bytes)
    }

    /// DELETE /test/messages
    private func clear(_ request: Call) async throws(AccountsError) -> Response {
        try present().clear()
        return Response(status: .noContent)
    }

    // MARK: Delivery

    /// POST /test/messages
    private func deliver(_ request: Call) async throws(AccountsError) -> Response {
        let mail = try present()
        var drafts: [TestMail.Draft] = []
        for body in try JSONBody<AccountsError>.list(
            request.http, atMost: TestMail.maximumCount)
        { drafts.append(try draft(in: body)) }
        let ids: [[String?]]
        do throws(TestMailError) {
            ids = try await mail.deliver(drafts)
        } catch {
            throw AccountsError(error)
        }
        return .json(.created) { body in
            body.array("messages") { list in
                for ids in ids { list.element { $0.write(ids: ids) } }
            }
        }
    }

    private func draft(
        in body: JSONBody<AccountsError>
    ) throws(AccountsError) -> TestMail.Draft {
        let recipients = try recipients(in: body)
        let from = try body.string("from")
        let subject = try body.string("subject")
        let (text, html) = (try body.string("text"), try body.string("html"))
        var attachments: [TestMail.Attachment] = []
        for one in try body.objects("attachments", atMost: TestMail.maximumCount) ?? [] {
            attachments.append(try attachment(in: one))
        }
        guard let source = try body.string("source") else {
            return TestMail.Draft(
                to: recipients,
                .composed(
                    from: from, subject: subject, text: text, html: html,
                    attachments: attachments))
        }
        guard from == nil, subject == nil, text == nil, html == nil, attachments.isEmpty else {
            throw .malformed("With `source` a message has only `to`.")
        }
        return TestMail.Draft(to: recipients, .source(Array(source.utf8)))
    }

    private func recipients(
        in body: JSONBody<AccountsError>
    ) throws(AccountsError) -> [String] {
        let recipients: [String]
        switch body.value("to") {
        case .string(let one)?: recipients = [one]
        case .array(let list)? where (1...TestMail.maximumCount).contains(list.count):
            recipients = list.compactMap(\.string)
            if recipients.count == list.count { break }
            fallthrough
        default:
            throw .malformed(
                "`to` must be an address or a list of 1 to \(TestMail.maximumCount) addresses.")
        }
        return recipients
    }

    private func attachment(
        in body: JSONBody<AccountsError>
    ) throws(AccountsError) -> TestMail.Attachment {
        guard let content = Base64.decode(try body.requiredString("content").utf8) else {
            throw .malformed("`content` must be Base64.")
        }
        return TestMail.Attachment(
            filename: try body.requiredString("filename"),
            type: try body.string("content_type") ?? "application/octet-stream", content: content)
    }

    // MARK: Faults

    /// POST /test/mail
    private func setFault(_ request: Call) async throws(AccountsError) -> Response {
        let mail = try present()
        let body = try JSONBody<AccountsError>(request.http)
        let name = try body.string("fail")
        let fault = name.flatMap(DeliveryFault.init)
        guard name == nil || fault != nil else {
            throw .malformed("`fail` must be `rcpt`, `data`, `temp` or null.")
        }
        mail.fault = fault
        return .json(.ok) { $0.member("fail", fault?.rawValue) }
    }
}

extension AccountsError {
    fileprivate init(_ error: TestMailError) {
        switch error {
        case .unknownRecipients, .invalid, .fault, .mailboxFull, .messageTooLarge, .systemFull:
            self = .malformed("\(error)")
        case .unavailable: self = .common(.busy(retryAfter: .seconds(1)))
        case .failed(let cause): self = .common(.failed(cause))
        }
    }
}

extension JSONWriter {
    fileprivate mutating func write(ids: [String?]) {
        array("ids") { list in
            for id in ids {
                if let id { list.element(id) } else { list.null() }
            }
        }
    }
}

extension TestMessage {
    fileprivate func write(to body: inout JSONWriter) {
        body.member("number", number)
        body.write(ids: ids)
        body.member("mail_from", mailFrom)
        body.member("to", recipients)
        body.member("from", from)
        body.member("subject", subject)
        body.member("text", text)
        body.member("html", html)
        body.array("attachments") { list in
            for attachment in attachments {
                list.element { member in
                    member.member("filename", attachment.filename)
                    member.member("content_type", attachment.type)
                    member.member("size", attachment.size)
                }
            }
        }
        body.array("headers") { list in
            for header in headers {
                list.element { member in
                    member.member("name", header.name)
                    member.member("value", header.value)
                }
            }
        }
        body.member("received_at", receivedAt.rfc3339)
        body.member("links", links)
        body.member("codes", codes)
    }
}
