// RemoteMail: the mail of accounts at a JMAP server (RFC 8620, RFC 8621).
//
// Owns: the requests to the server and the checks of what it answers, and what is kept about its
// accounts between two requests. Never knows how a credential is made or what a client of this
// server may do.

public import LocalMail
internal import Networking
internal import StrictJSON

/// The mail at another server, for requests of one client.
public struct RemoteMail: MailStore {
    /// Emails that are marked as read in one call for all: 40 calls of at most 500.
    private static let maxMarkingCalls = 40

    let store: RemoteStore
    let client: IPAddress
    let credential: RemoteStore.Credential

    public func messages(
        of account: MailAccount, page: Int
    ) async throws(MailStoreError) -> [MessageListing] {
        let skipped = (max(1, page) - 1).multipliedReportingOverflow(by: MessagePage.length)
        guard page >= 1, !skipped.overflow else { return [] }
        return try await asking { () async throws(StoreFailure) in
            do throws(StoreFailure) {
                return try await listed(account, skipping: skipped.partialValue)
            } catch {
                guard case .noMailbox = error else { throw error }
                return []
            }
        }
    }

    public func message(
        _ id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (listing: MessageListing, body: MessageBody) {
        try await asking { () async throws(StoreFailure) in
            let email = try await email(
                id, of: account, properties: EmailReading.listed + EmailReading.body,
                EmailReading.bodyArguments)
            return (try MessageListing(email), try MessageBody(email))
        }
    }

    public func source(
        of id: String, of account: MailAccount
    ) async throws(MailStoreError) -> [UInt8] {
        try await asking { () async throws(StoreFailure) in
            let email = try await email(id, of: account, properties: ["blobId", "size"])
            return try await download(
                try email.id("blobId"), size: try email.size("size"), of: account)
        }
    }

    public func attachment(
        _ index: Int, of id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (attachment: MessageAttachment, content: [UInt8]) {
        try await asking { () async throws(StoreFailure) in
            let email = try await email(
                id, of: account, properties: ["attachments", "htmlBody", "textBody"],
                EmailReading.partArguments)
            let parts = try EmailReading.attachedParts(of: email)
            guard parts.indices.contains(index) else { throw .notFound }
            let attachment = try MessageAttachment(parts[index])
            let content = try await download(
                try parts[index].id("blobId"), size: attachment.size, of: account)
            return (attachment, content)
        }
    }

    public func delete(_ id: String, of account: MailAccount) async throws(MailStoreError) {
        try await asking { () async throws(StoreFailure) in
            guard Arguments.isID(id) else { throw .notFound }
            let ids = JSONValue.strings([id])
            let responses = try await call(
                [
                    MethodCall("Email/get", [("ids", ids), ("properties", .strings(["id"]))]),
                    MethodCall("Email/set", [("destroy", ids)]),
                ], of: account)
            // Cyrus IMAP says of an id that it does not know, too, that it was destroyed.
            let found = try responses.arguments(0, of: "Email/get").objects("list")
            guard !found.isEmpty else { throw .notFound }
            let set = try responses.arguments(1, of: "Email/set")
            if let error = try set.members("notDestroyed")[id] { throw Self.setFailure(error) }
            guard try set.ids("destroyed") == [id] else {
                throw set.unexpected("destroyed", "the email")
            }
        }
    }

    public func markRead(
        _ messages: MessageSelection, of account: MailAccount
    ) async throws(MailStoreError) -> Int {
        try await asking { () async throws(StoreFailure) in
            switch messages {
            case .one(let id):
                let email = try await email(id, of: account, properties: ["id", "keywords"])
                guard try !email.isRead else { return 0 }
                return try await mark([id], of: account)
            case .several(let ids):
                return try await markSeveral(ids.filter(Arguments.isID), of: account)
            case .all: return try await markAll(of: account)
            }
        }
    }

    // MARK: Lists

    /// The folders whose messages are not listed: Trash, Drafts and Sent.
    func unlisted(of account: MailAccount) async throws(StoreFailure) -> [String] {
        if let known = store.accounts.unlisted(of: account.id) { return known }
        let ids = try EmailReading.unlisted(try await call(EmailReading.unlistedCall, of: account))
        store.accounts.keep(unlisted: ids, of: account.id)
        return ids
    }

    /// A page of the list. In the same request the folders are asked for, and if they have changed
    /// the page is asked for again.
    private func listed(
        _ account: MailAccount, skipping: Int
    ) async throws(StoreFailure) -> [MessageListing] {
        var unlisted = try await unlisted(of: account)
        for _ in 0..<3 {
            let responses = try await call(
                [
                    EmailReading.unlistedCall,
                    // Before the list: a message that arrives in between is new for both.
                    EmailReading.stateCall,
                    MethodCall(
                        "Email/query",
                        [
                            ("filter", EmailReading.filter(unlisted)),
                            ("sort", EmailReading.sort(isAscending: false)),
                            ("position", .integer(Int64(skipping))),
                            ("limit", .integer(Int64(MessagePage.length))),
                        ]),
                    EmailReading.get(idsOf: 2, "Email/query", "/ids"),
                ], of: account)
            let found = try EmailReading.unlisted(
                try responses.arguments(0, of: "Mailbox/query"))
            if Set(found) != Set(unlisted) {
                unlisted = found
                store.accounts.keep(unlisted: found, of: account.id)
                continue
            }
            let state = try responses.arguments(1, of: "Email/get").text("state")
            let ids = try responses.arguments(2, of: "Email/query").ids("ids")
            let messages = try EmailReading.listings(
                try responses.arguments(3, of: "Email/get"), in: ids)
            if skipping == 0, let newest = messages.first {
                store.accounts.keep(state: state, after: newest.id, of: account.id)
            }
            return messages
        }
        throw .away("its folders change all the time")
    }

    // MARK: Marking

    private func markSeveral(
        _ ids: [String], of account: MailAccount
    ) async throws(StoreFailure) -> Int {
        var (count, rest) = (0, Array(Set(ids)).sorted()[...])
        do throws(StoreFailure) {
            let limit = try await session(of: account).maxObjects
            while !rest.isEmpty {
                let get = try await call(
                    MethodCall(
                        "Email/get",
                        [
                            ("ids", .strings(Array(rest.prefix(limit)))),
                            ("properties", .strings(["id", "keywords"])),
                        ]), of: account)
                rest = rest.dropFirst(limit)
                var unread: [String] = []
                for email in try get.objects("list") where try !email.isRead {
                    unread.append(try email.id("id"))
                }
                count += try await mark(unread, of: account)
            }
        } catch {
            guard case .noMailbox = error else { throw error }
        }
        return count
    }

    private func markAll(of account: MailAccount) async throws(StoreFailure) -> Int {
        var count = 0
        do throws(StoreFailure) {
            let limit = try await session(of: account).maxObjects
            let unlisted = try await unlisted(of: account)
            for _ in 0..<Self.maxMarkingCalls {
                let query = try await call(
                    MethodCall(
                        "Email/query",
                        [
                            ("filter", EmailReading.filter(unlisted, unread: true)),
                            ("limit", .integer(Int64(limit))),
                        ]), of: account)
                let ids = try query.ids("ids")
                let marked = try await mark(ids, of: account)
                count += marked
                if ids.count < limit || marked == 0 { break }
            }
        } catch {
            guard case .noMailbox = error else { throw error }
        }
        return count
    }

    /// - Returns: how many were marked. One that is gone by now is passed over.
    private func mark(
        _ ids: [String], of account: MailAccount
    ) async throws(StoreFailure) -> Int {
        guard !ids.isEmpty else { return 0 }
        let change = JSONValue.members([("keywords/$seen", .bool(true))])
        let set = try await call(
            MethodCall("Email/set", [("update", .members(ids.map { ($0, change) }))]),
            of: account)
        for member in try set.members("notUpdated").members {
            if case .notFound = Self.setFailure(member.value) {
                if ids.count == 1 { throw .notFound }
                continue
            }
            throw Self.setFailure(member.value)
        }
        return try set.members("updated").members.count
    }

    /// A SetError (RFC 8620 §5.3).
    private static func setFailure(_ error: JSONValue) -> StoreFailure {
        switch error.object?["type"]?.string {
        case "notFound": .notFound
        case "forbidden": .invalid("Email/set: forbidden")
        default: .invalid("Email/set: the email was not changed")
        }
    }

    // MARK: Requests

    func session(of account: MailAccount) async throws(StoreFailure) -> SessionObject {
        try await store.session(of: account, for: client, credential)
    }

    func call(
        _ methods: [MethodCall], of account: MailAccount
    ) async throws(StoreFailure) -> MethodResponses {
        try await store.call(
            methods, of: account, try await session(of: account), for: client, credential)
    }

    private func call(
        _ method: MethodCall, of account: MailAccount
    ) async throws(StoreFailure) -> Arguments {
        try await call([method], of: account).arguments(0, of: method.name)
    }

    /// Properties of one email.
    func email(
        _ id: String, of account: MailAccount, properties: [String],
        _ more: [(name: String, value: JSONValue)] = []
    ) async throws(StoreFailure) -> Arguments {
        guard Arguments.isID(id) else { throw .notFound }
        let get = try await call(
            MethodCall(
                "Email/get",
                [("ids", .strings([id])), ("properties", .strings(properties))] + more),
            of: account)
        guard let email = try get.objects("list").first else { throw .notFound }
        return email
    }

    private func download(
        _ blobID: String, size: Int, of account: MailAccount
    ) async throws(StoreFailure) -> [UInt8] {
        guard size <= RemoteStore.downloadBytes else {
            throw .invalid("a download of \(size) bytes is too large")
        }
        return try await store.download(
            blobID, of: account, try await session(of: account), for: client, credential)
    }

    /// Reports a failure, once.
    func asking<T>(
        _ work: () async throws(StoreFailure) -> T
    ) async throws(MailStoreError) -> T {
        do throws(StoreFailure) {
            return try await work()
        } catch {
            throw store.note(error)
        }
    }
}
