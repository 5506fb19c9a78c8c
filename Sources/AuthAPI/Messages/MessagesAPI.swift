internal import AuthCore
internal import HTTPEngine
internal import LocalMail
internal import Networking
internal import Scheduling
internal import StrictJSON

/// The messages of accounts: `/api/accounts/{account_id}/messages…`, and the same under
/// `/api/user` (docs/api.md, "Messages").
struct MessagesAPI: Sendable {
    typealias Access = APIRequest<Mailboxes.Access>

    /// Ids in one request to mark messages as read.
    private static let maxIDs = 1_000
    private static let timeoutSeconds = 0...60
    private static let defaultTimeoutSeconds = 30

    private let mail: AccountsMail
    private let errors: AccountsErrors
    private let pipeline: Pipeline<AccountsError>
    private let access: AccountsAccess

    init(accounts: AccountsAPI) {
        mail = accounts.mail
        errors = accounts.errors
        pipeline = accounts.pipeline
        access = accounts.access
    }

    var routes: RouteGroup {
        // The prefix is that of the accounts API.
        RouteGroup(
            prefixes: [], errors: errors.renderer,
            routes: routes(below: "/api/accounts/{account_id}/messages", access.mailbox)
                + routes(below: "/api/user/accounts/{account_id}/messages", access.ownedMailbox))
    }

    private func routes(
        below path: String, _ access: AccountsAccess.Access<Mailboxes.Access>
    ) -> [Route] {
        let message = path + "/{message_id}"
        return [
            pipeline.route(.get, path, access, list),
            pipeline.route(.get, path + "/wait", isLongPoll: true, access, wait),
            pipeline.route(.put, path + "/read", body: .json, access, markSeveral),
            pipeline.route(.get, message, access, show),
            pipeline.route(.delete, message, access, delete),
            pipeline.route(.put, message + "/read", access, markOne),
            pipeline.route(.get, message + "/source", access, source),
            pipeline.route(.get, message + "/attachments/{index}", access, attachment),
        ]
    }

    // MARK: Endpoints

    /// GET …/messages?page=
    private func list(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let page = try QueryFields<AccountsError>(request.http)
            .number("page", in: 1...1_000_000, default: 1)
        let messages = try await AccountsError.of { () async throws(MailStoreError) in
            try await store.messages(of: account, page: page)
        }
        return response(messages) { $0.member("page", page) }
    }

    /// GET …/messages/wait?since=&timeout=
    private func wait(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let query = QueryFields<AccountsError>(request.http)
        let seconds = try query.number(
            "timeout", in: Self.timeoutSeconds, default: Self.defaultTimeoutSeconds)
        let deadline = request.caller.arrival + .seconds(seconds)
        let since = try query.text("since")
        guard let place = mail.work.waits.place(at: request.caller.address.client) else {
            throw .tooManyWaits
        }
        defer { withExtendedLifetime(place) {} }
        let messages = try await AccountsError.of { () async throws(MailStoreError) in
            try await store.newMessages(of: account, after: since, until: deadline)
        }
        return response(messages)
    }

    /// GET …/messages/{message_id}
    private func show(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let id = try messageID(of: request)
        let message = try await AccountsError.of { () async throws(MailStoreError) in
            try await store.message(id, of: account)
        }
        return .json(.ok) { body in
            body.write(message.listing)
            body.member("address", account.address)
            body.write(message.body)
        }
    }

    /// DELETE …/messages/{message_id}
    private func delete(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let id = try messageID(of: request)
        try await AccountsError.of { () async throws(MailStoreError) in
            try await store.delete(id, of: account)
        }
        return Response(status: .noContent)
    }

    /// PUT …/messages/{message_id}/read
    private func markOne(_ request: Access) async throws(AccountsError) -> Response {
        try await mark(.one(try messageID(of: request)), request)
    }

    /// PUT …/messages/read
    private func markSeveral(_ request: Access) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let ids = try ids(in: body)
        switch (ids, try body.bool("all")) {
        case (let ids?, nil): return try await mark(.several(ids), request)
        case (nil, true?): return try await mark(.all, request)
        default: throw .malformed("Exactly one of `ids` and `\"all\":true` must be given.")
        }
    }

    /// GET …/messages/{message_id}/source
    private func source(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let id = try messageID(of: request)
        let source = try await AccountsError.of { () async throws(MailStoreError) in
            try await store.source(of: id, of: account)
        }
        return download(source, type: "message/rfc822", filename: "\(id).eml")
    }

    /// GET …/messages/{message_id}/attachments/{index}
    private func attachment(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let id = try messageID(of: request)
        guard let index = request.http.parameters["index"].flatMap(Self.index) else {
            throw .notFound
        }
        let found = try await AccountsError.of { () async throws(MailStoreError) in
            try await store.attachment(index, of: id, of: account)
        }
        return download(
            found.content, type: MediaType.ofAttachment(found.attachment.mediaType),
            filename: found.attachment.filename(at: index))
    }

    // MARK: Input

    private func mailbox(
        of request: Access
    ) throws(AccountsError) -> (store: any MailStore, account: MailAccount) {
        try mail.mailbox(of: request.principal.account, for: request.caller)
    }

    private func messageID(of request: Access) throws(AccountsError) -> String {
        guard let id = request.http.parameters["message_id"] else { throw .notFound }
        return id
    }

    private func ids(in body: JSONBody<AccountsError>) throws(AccountsError) -> [String]? {
        guard let value = body.value("ids") else { return nil }
        let values = value.array ?? []
        let ids = values.compactMap(\.string)
        guard value.array != nil, ids.count == values.count, ids.count <= Self.maxIDs else {
            throw .malformed("`ids` must be an array of at most \(Self.maxIDs) strings.")
        }
        return ids
    }

    /// Decimal digits without a zero before them, so that an attachment has one path.
    private static func index(_ text: String) -> Int? {
        guard let number = Int(text), number >= 0, String(number) == text else { return nil }
        return number
    }

    private func mark(
        _ messages: MessageSelection, _ request: Access
    ) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let count = try await AccountsError.of { () async throws(MailStoreError) in
            try await store.markRead(messages, of: account)
        }
        return .json(.ok) { $0.member("updated", count) }
    }

    // MARK: Output

    private func response(
        _ messages: [MessageListing], _ more: (inout JSONWriter) -> Void = { _ in }
    ) -> Response {
        .json(.ok) { body in
            body.array("messages") { list in
                for message in messages { list.element { $0.write(message) } }
            }
            more(&body)
        }
    }

    private func download(_ bytes: [UInt8], type: String, filename: String) -> Response {
        Response(
            status: .ok,
            headers: DownloadFields.all(type: type, filename: filename)
                + [("Cache-Control", "no-store")], body: bytes)
    }
}
