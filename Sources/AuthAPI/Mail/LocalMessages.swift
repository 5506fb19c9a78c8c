internal import LocalMail
internal import Networking
internal import Scheduling

/// The mail in this process, for requests of one client: large messages are read in the pool, where
/// clients have their shares.
struct LocalMessages: MailStore {
    /// The most bytes of a message that is read on the loop.
    private static let immediateBytes = 16_384

    let mail: LocalMail
    let work: MailWork
    let client: IPAddress

    func messages(
        of account: MailAccount, page: Int
    ) async throws(MailStoreError) -> [MessageListing] {
        try await mail.messages(of: account, page: page)
    }

    func message(
        _ id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (listing: MessageListing, body: MessageBody) {
        let (listing, content) = try mail.content(of: id, of: account)
        let body = try await read(content) { try $0.body(of: $1) }
        return (listing, body)
    }

    func source(
        of id: String, of account: MailAccount
    ) async throws(MailStoreError) -> [UInt8] {
        try mail.content(of: id, of: account).content.bytes
    }

    func attachment(
        _ index: Int, of id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (attachment: MessageAttachment, content: [UInt8]) {
        let content = try mail.content(of: id, of: account).content
        let found = try await read(content) { try $0.attachment(index, of: $1) }
        guard let found else { throw .notFound }
        return found
    }

    func delete(_ id: String, of account: MailAccount) async throws(MailStoreError) {
        try await mail.delete(id, of: account)
    }

    func markRead(
        _ messages: MessageSelection, of account: MailAccount
    ) async throws(MailStoreError) -> Int {
        try await mail.markRead(messages, of: account)
    }

    func newMessages(
        of account: MailAccount, after id: String?, until deadline: ContinuousClock.Instant
    ) async throws(MailStoreError) -> [MessageListing] {
        try await mail.newMessages(of: account, after: id, until: deadline)
    }

    private func read<T: Sendable>(
        _ content: MailContent,
        _ read: @escaping @Sendable (any MessageReader, [UInt8]) throws -> T
    ) async throws(MailStoreError) -> T {
        let reader = mail.reader
        do {
            guard content.bytes.count > Self.immediateBytes else {
                return try read(reader, content.bytes)
            }
            return try await work.pool.run(for: client) { try read(reader, content.bytes) }
        } catch {
            throw .failed(error)
        }
    }
}
