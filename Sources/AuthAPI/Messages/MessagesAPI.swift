internal import AuthCore
internal import HTTPEngine
internal import LocalMail
internal import MIME
internal import Networking
internal import Scheduling
internal import StrictJSON

/// The messages of accounts: `/api/accounts/{account_id}/messages…`, and the same under
/// `/api/user` (docs/api.md, "Messages").
struct MessagesAPI: Sendable {
    typealias Access = APIRequest<Mailboxes.Access>

    /// Ids in one request to mark messages as read.
    private static let maxIDs = 1_000
    /// The most bytes of a message that is read on the loop.
    private static let immediateBytes = 16_384
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
            pipeline.route(.get, path + "/wait", access, wait),
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
        let messages = try await ask { () async throws(MailStoreError) in
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
        let given = try query.text("since")
        guard let place = mail.work.waits.place(at: request.caller.address.client) else {
            throw .tooManyWaits
        }
        defer { withExtendedLifetime(place) {} }
        let messages = try await ask { () async throws(MailStoreError) in
            let since =
                if let given { given } else { try await store.newest(of: account, at: deadline) }
            return try await store.messages(of: account, after: since, until: deadline)
        }
        return response(messages)
    }

    /// GET …/messages/{message_id}
    private func show(_ request: Access) async throws(AccountsError) -> Response {
        let (listing, source) = try await message(of: request)
        let address = request.principal.account.address.description
        return try await read(source, for: request) {
            try Self.view(listing, source, address)
        }
    }

    /// DELETE …/messages/{message_id}
    private func delete(_ request: Access) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let id = try messageID(of: request)
        try await ask { () async throws(MailStoreError) in
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
        let (listing, source) = try await message(of: request)
        return download(source, type: "message/rfc822", filename: "\(listing.id).eml")
    }

    /// GET …/messages/{message_id}/attachments/{index}
    private func attachment(_ request: Access) async throws(AccountsError) -> Response {
        let (_, source) = try await message(of: request)
        guard let index = request.http.parameters["index"].flatMap(Self.index) else {
            throw .notFound
        }
        let found = try await read(source, for: request) {
            try Self.attachment(index, of: source)
        }
        guard let found else { throw .notFound }
        return download(
            found.bytes, type: MediaType.ofAttachment(found.attachment.type),
            filename: found.attachment.filename)
    }

    // MARK: Input

    private func mailbox(
        of request: Access
    ) throws(AccountsError) -> (store: any MailStore, account: MailAccount) {
        guard let store = mail.store else { throw .mailStoreMissing }
        return (store, mail.account(of: request.principal.account))
    }

    private func messageID(of request: Access) throws(AccountsError) -> String {
        guard let id = request.http.parameters["message_id"] else { throw .notFound }
        return id
    }

    private func message(
        of request: Access
    ) async throws(AccountsError) -> (listing: MessageListing, source: [UInt8]) {
        let (store, account) = try mailbox(of: request)
        let id = try messageID(of: request)
        return try await ask { () async throws(MailStoreError) in
            try await store.message(id, of: account)
        }
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

    /// An error of the store as one of this API.
    private func ask<T>(
        _ work: () async throws(MailStoreError) -> T
    ) async throws(AccountsError) -> T {
        do throws(MailStoreError) {
            return try await work()
        } catch {
            switch error {
            case .notFound: throw .notFound
            case .unavailable(let wait): throw .common(.busy(retryAfter: wait))
            }
        }
    }

    private func mark(
        _ messages: MessageSelection, _ request: Access
    ) async throws(AccountsError) -> Response {
        let (store, account) = try mailbox(of: request)
        let count = try await ask { () async throws(MailStoreError) in
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

    /// Reads a small message on the loop, and a larger one in the pool.
    private func read<T: Sendable>(
        _ source: [UInt8], for request: Access, _ work: @escaping @Sendable () throws -> T
    ) async throws(AccountsError) -> T {
        do {
            guard source.count > Self.immediateBytes else { return try work() }
            return try await mail.work.pool.run(for: request.caller.address, work)
        } catch {
            throw .common(CommonError(error))
        }
    }

    private static func view(
        _ listing: MessageListing, _ source: [UInt8], _ address: String
    ) throws(MIMEError) -> Response {
        let view = try MessageView(source)
        return .json(.ok) { body in
            body.write(listing)
            body.member("address", address)
            body.write(view)
        }
    }

    private static func attachment(
        _ index: Int, of source: [UInt8]
    ) throws(MIMEError) -> (attachment: MessageView.Attachment, bytes: [UInt8])? {
        let view = try MessageView(source)
        return view.content(ofAttachment: index).map { (view.attachments[index], $0) }
    }
}

extension MailStore {
    /// The message that arrived last; `nil` where there is none.
    ///
    /// The first of the list has the newest date, and others may have arrived after it.
    /// - Parameter deadline: no page is asked for after it.
    fileprivate func newest(
        of account: MailAccount, at deadline: ContinuousClock.Instant
    ) async throws(MailStoreError) -> String? {
        guard var last = try await messages(of: account, page: 1).first?.id else { return nil }
        let now = ContinuousClock.now
        repeat {
            // A deadline that has passed: what is there already, and no wait.
            guard let next = try await messages(of: account, after: last, until: now).first else {
                return last
            }
            last = next.id
        } while ContinuousClock.now < deadline
        return last
    }
}
