extension LocalMail: MailStore {
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

    public func message(
        _ id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (listing: MessageListing, source: [UInt8]) {
        try mail(of: account).read { state throws(MailStoreError) in
            guard let message = MailID.number(.message, id).flatMap({ state.messages[$0] }) else {
                throw .notFound
            }
            return (MessageListing(message), message.content.bytes)
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

    public func messages(
        of account: MailAccount, after id: String?, until deadline: ContinuousClock.Instant
    ) async throws(MailStoreError) -> [MessageListing] {
        let mail = mail(of: account)
        // Begins before the first look, so that nothing can arrive unseen.
        let changes = mail.stateChanges()
        let first = try mail.listed(after: id)
        if !first.isEmpty { return first }
        let found = await withTaskGroup(of: [MessageListing].self) { group in
            group.addTask {
                var changes = changes
                while await changes.next() != nil {
                    // The id was valid before. It is not in an account that was emptied.
                    let found = (try? mail.listed(after: id)) ?? []
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

    public func usedBytes(of account: MailAccount) async throws(MailStoreError) -> Int {
        mail(of: account).usedBytes
    }
}

extension AccountMail {
    /// - Returns: the first page of those that arrived after `id`, newest first.
    fileprivate func listed(after id: String?) throws(MailStoreError) -> [MessageListing] {
        try read { state throws(MailStoreError) in
            var number: UInt64 = 0
            if let id {
                guard let known = MailID.number(.message, id), state.hasGiven(known) else {
                    throw .notFound
                }
                number = known
            }
            return state.listed(after: number, limit: MessagePage.length).reversed()
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
