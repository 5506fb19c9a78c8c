/// What ``MailStore`` says of these functions holds here, too. Messages are read by the caller.
extension LocalMail {
    public func messages(
        of account: MailAccount, page: Int
    ) async throws(MailStoreError) -> [MessageListing] {
        guard page >= 1 else { return [] }
        let skipped = (page - 1).multipliedReportingOverflow(by: MessagePage.length)
        guard !skipped.overflow else { return [] }
        return mail(of: account).read { state in
            let folders = state.listedFolders
            return state.messages.dates.entries.lazy.reversed()
                .compactMap { state.messages[$0.number] }
                .filter { $0.folders.contains(where: folders.contains) }
                .dropFirst(skipped.partialValue).prefix(MessagePage.length)
                .map(MessageListing.init)
        }
    }

    /// Returns one message of any folder. Reading does not mark it as read.
    public func content(
        of id: String, of account: MailAccount
    ) throws(MailStoreError) -> (listing: MessageListing, content: MailContent) {
        try mail(of: account).read { state throws(MailStoreError) in
            guard let message = MailID.number(.message, id).flatMap({ state.messages[$0] }) else {
                throw .notFound
            }
            return (MessageListing(message), message.content)
        }
    }

    public func delete(_ id: String, of account: MailAccount) async throws(MailStoreError) {
        let isDone = mail(of: account).write { state in
            MailID.number(.message, id).map { state.removeMessage($0) } ?? false
        }
        if !isDone { throw .notFound }
    }

    public func markRead(
        _ messages: MessageSelection, of account: MailAccount
    ) async throws(MailStoreError) -> Int {
        try mail(of: account).write { state throws(MailStoreError) in
            let numbers: [UInt64]
            switch messages {
            case .one(let id):
                guard let number = MailID.number(.message, id), state.messages[number] != nil
                else { throw .notFound }
                numbers = [number]
            case .several(let ids): numbers = ids.compactMap { MailID.number(.message, $0) }
            case .all: numbers = state.listed(after: 0, limit: nil).map(\.number)
            }
            return numbers.reduce(0) { count, number in
                guard let message = state.messages[number], !message.has("$seen") else {
                    return count
                }
                let keywords = (message.keywords + ["$seen"]).sorted()
                _ = state.update(number, folders: message.folders, keywords: keywords)
                return count + 1
            }
        }
    }

    public func newMessages(
        of account: MailAccount, after id: String?, until deadline: ContinuousClock.Instant
    ) async throws(MailStoreError) -> [MessageListing] {
        let mail = mail(of: account)
        // Begins before the first look, so that nothing can arrive unseen.
        let changes = mail.stateChanges()
        let number = try mail.number(of: id)
        let first = mail.listed(after: number)
        if !first.isEmpty { return first }
        let found = await withTaskGroup(of: [MessageListing].self) { group in
            group.addTask {
                var changes = changes
                while await changes.next() != nil {
                    let found = mail.listed(after: number)
                    if !found.isEmpty { return found }
                }
                return []
            }
            group.addTask {
                // Cancelled when there is something to return.
                try? await Task.sleep(until: deadline, clock: .continuous)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
        return found
    }
}

extension AccountMail {
    /// - Returns: the number of the message or, without an id, the last one given out.
    fileprivate func number(of id: String?) throws(MailStoreError) -> UInt64 {
        try read { state throws(MailStoreError) in
            guard let id else { return state.lastNumber }
            guard let known = MailID.number(.message, id), state.hasGiven(known) else {
                throw .notFound
            }
            return known
        }
    }

    /// - Returns: the first page of those that arrived after this one, newest first.
    fileprivate func listed(after number: UInt64) -> [MessageListing] {
        read { state in
            state.listed(after: number, limit: MessagePage.length).reversed()
                .map(MessageListing.init)
        }
    }
}

extension AccountState {
    /// The inbox and every other folder but Trash, Drafts and Sent.
    fileprivate var listedFolders: Set<UInt64> {
        Set(
            folders.all.filter { folder in
                switch folder.role {
                case .trash, .drafts, .sent: false
                default: true
                }
            }.map(\.number))
    }

    /// - Returns: those that arrived after the message with this number, oldest first.
    fileprivate func listed(after number: UInt64, limit: Int?) -> [StoredMessage] {
        let folders = listedFolders
        let found = messages.numbers(after: number).lazy.compactMap { messages[$0] }
            .filter { $0.folders.contains(where: folders.contains) }
        return Array(found.prefix(limit ?? .max))
    }
}

extension MessageListing {
    public init(_ email: MailEmail) {
        self.init(
            id: email.id, email.content, isRead: email.keywords.contains("$seen"),
            receivedAt: email.receivedAt)
    }

    fileprivate init(_ message: StoredMessage) {
        self.init(
            id: MailID.text(.message, message.number), message.content,
            isRead: message.has("$seen"), receivedAt: message.receivedAt)
    }

    private init(id: String, _ content: MailContent, isRead: Bool, receivedAt: MailInstant) {
        let summary = content.summary
        let author = summary.from.first ?? summary.sender.first
        self.init(
            id: id, sender: author?.display ?? "", from: author?.email ?? "",
            subject: summary.subject ?? "", preview: summary.preview, size: content.bytes.count,
            isRead: isRead, receivedAt: receivedAt)
    }
}
