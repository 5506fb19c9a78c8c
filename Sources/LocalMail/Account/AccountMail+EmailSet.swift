extension AccountMail {
    /// Email/set and Email/import: creations, then updates, then destructions. Each is done or
    /// fails on its own, and nothing else happens in between.
    public func setEmails(
        _ set: EmailSet
    ) throws(MailStateMismatch) -> MailSetResult<CreatedEmail, EmailSetError> {
        // Read before the lock is taken.
        let prepared = set.create.map { creationID, draft in
            (creationID, draft, prepare(draft.source))
        }
        let quota = quotaBytes
        let now = environment.now()
        return try write { state throws(MailStateMismatch) in
            let old = state.states[.email]
            if let expected = set.ifInState, expected != old { throw MailStateMismatch() }
            var run = EmailSetRun(oldState: old, quota: quota)
            for (creationID, draft, content) in prepared {
                run.create(creationID, draft, content, now: now, in: &state)
            }
            let destroyed = Set(set.destroy.compactMap(run.number))
            for (id, patch) in set.update {
                run.update(id, patch, destroyed: destroyed, in: &state)
            }
            for id in set.destroy { run.destroy(id, in: &state) }
            run.result.newState = state.states[.email]
            return run.result
        }
    }

    private func prepare(_ source: EmailDraft.Source) -> Result<PreparedMessage, EmailSetError> {
        Result { () throws(EmailSetError) in
            let stored: StoredBytes
            switch source {
            case .blob(let id):
                let now = environment.now()
                guard let blob = read({ $0.blob(id, at: now) }) else { throw .blobNotFound(id) }
                try check(size: blob.bytes.bytes.count)
                if let summary = blob.summary {
                    return try prepared(blob.bytes, summary)
                }
                stored = blob.bytes
            case .bytes(let bytes):
                try check(size: bytes.count)
                guard
                    let kept = StoredBytes([bytes], budget: budget, limit: limits.totalBytes)
                else { throw .overQuota }
                stored = kept
            }
            return try prepared(stored, environment.reader.summary(of: stored.bytes))
        }
    }

    private func check(size: Int) throws(EmailSetError) {
        if size > limits.messageBytes { throw .tooLarge(limits.messageBytes) }
    }

    private func prepared(
        _ bytes: StoredBytes, _ summary: MessageSummary
    ) throws(EmailSetError) -> PreparedMessage {
        guard let content = MailContent(bytes, summary: summary, limit: limits.totalMessages) else {
            throw .overQuota
        }
        return PreparedMessage(content: content, threadKeys: ThreadTable.keys(of: summary))
    }
}

private struct PreparedMessage: Sendable {
    let content: MailContent
    let threadKeys: [Int]
}

/// One Email/set.
private struct EmailSetRun {
    var result: MailSetResult<CreatedEmail, EmailSetError>
    private var created: [String: UInt64] = [:]
    private let quota: Int

    init(oldState: String, quota: Int) {
        result = MailSetResult(oldState: oldState)
        self.quota = quota
    }

    func number(_ id: String) -> UInt64? {
        if id.utf8.first == UInt8(ascii: "#") { return created[String(id.dropFirst())] }
        return MailID.number(.message, id)
    }

    mutating func create(
        _ creationID: String, _ draft: EmailDraft,
        _ prepared: Result<PreparedMessage, EmailSetError>, now: MailInstant,
        in state: inout AccountState
    ) {
        let outcome = Result { () throws(EmailSetError) in
            if state.isClosed { throw .forbidden }
            let folders = try folders(draft.folderIDs, in: state)
            let keywords = try keywords(draft.keywords, in: state)
            let message = try prepared.get()
            guard state.messages.bytes + message.content.bytes.count <= quota else {
                throw .overQuota
            }
            return state.insert(
                message.content, threadKeys: message.threadKeys, folders: folders,
                keywords: keywords, receivedAt: draft.receivedAt ?? now)
        }
        if case .success(let message) = outcome { created[creationID] = message.number }
        result.created.append((creationID, outcome.map(CreatedEmail.init)))
    }

    mutating func update(
        _ id: String, _ patch: EmailPatch, destroyed: Set<UInt64>, in state: inout AccountState
    ) {
        let outcome = Result { () throws(EmailSetError) in
            guard let number = number(id), let message = state.messages[number] else {
                throw .notFound
            }
            if destroyed.contains(number) { throw .willDestroy }
            var (folders, keywords) = (message.folders, message.keywords)
            if let members = patch.folderIDs {
                let ids = folders.map { MailID.text(.folder, $0) }
                folders = try self.folders(members.applied(to: ids), in: state)
            }
            if let members = patch.keywords {
                keywords = try self.keywords(
                    members.lowered.applied(to: keywords), in: state)
            }
            _ = state.update(number, folders: folders, keywords: keywords)
        }
        result.updated.append((id, outcome))
    }

    mutating func destroy(_ id: String, in state: inout AccountState) {
        let isDone = number(id).map { state.removeMessage($0) } ?? false
        result.destroyed.append((id, isDone ? .success(()) : .failure(.notFound)))
    }

    private func folders(
        _ ids: [String], in state: AccountState
    ) throws(EmailSetError) -> [UInt64] {
        var folders: [UInt64] = []
        for id in ids {
            guard let number = MailID.number(.folder, id), state.folders[number] != nil else {
                throw .invalidProperties(["mailboxIds"])
            }
            if !folders.contains(number) { folders.append(number) }
        }
        if folders.isEmpty { throw .invalidProperties(["mailboxIds"]) }
        return folders.sorted()
    }

    private func keywords(
        _ keywords: [String], in state: AccountState
    ) throws(EmailSetError) -> [String] {
        guard keywords.allSatisfy(Keyword.isValid) else { throw .invalidProperties(["keywords"]) }
        let keywords = Set(keywords.map(Keyword.lowered)).sorted()
        if keywords.count > state.limits.keywordsPerMessage { throw .tooManyKeywords }
        return keywords
    }
}

extension EmailPatch.Members {
    fileprivate var lowered: EmailPatch.Members {
        switch self {
        case .replace(let members): .replace(members.map(Keyword.lowered))
        case .patch(let changes):
            .patch(
                Dictionary(changes.map { (Keyword.lowered($0.key), $0.value) }) { $0 || $1 })
        }
    }

    fileprivate func applied(to members: [String]) -> [String] {
        switch self {
        case .replace(let new): new
        case .patch(let changes):
            members.filter { changes[$0] != false }
                + changes.filter { $0.value && !members.contains($0.key) }.map(\.key)
        }
    }
}

extension CreatedEmail {
    fileprivate init(_ message: StoredMessage) {
        self.init(
            id: MailID.text(.message, message.number), blobID: MailID.text(.blob, message.number),
            threadID: MailID.text(.thread, message.thread), size: message.size)
    }
}
