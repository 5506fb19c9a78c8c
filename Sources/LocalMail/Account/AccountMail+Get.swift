extension AccountMail {
    /// All folders, in the order of their creation.
    public func folders() -> (list: [MailFolder], state: String) {
        read { state in (state.folders.all.map(MailFolder.init), state.states[.mailbox]) }
    }

    /// How many folders and submissions there are.
    public var counts: (folders: Int, submissions: Int) {
        read { state in (state.folders.count, state.submissions.all.count) }
    }

    /// - Returns: those that exist, in the order of `ids`, with the state that they are of.
    public func emails(_ ids: [String]) -> (list: [MailEmail], state: String) {
        read { state in
            let list = ids.compactMap { id in
                MailID.number(.message, id).flatMap { state.messages[$0] }.map(MailEmail.init)
            }
            return (list, state.states[.email])
        }
    }

    /// The ids of all messages, for a get without ids.
    ///
    /// - Parameter limit: ids to return at most.
    public func emailIDs(limit: Int) -> [String] {
        read { state in
            state.messages.dates.entries.prefix(limit).map { MailID.text(.message, $0.number) }
        }
    }

    /// - Returns: those that exist, in the order of `ids`, with the state that they are of.
    public func threads(_ ids: [String]) -> (list: [MailThread], state: String) {
        read { state in
            let list = ids.compactMap { id -> MailThread? in
                MailID.number(.thread, id).flatMap { state.threads.messages(of: $0) }.map {
                    MailThread(id: id, emailIDs: $0.map { MailID.text(.message, $0) })
                }
            }
            return (list, state.states[.thread])
        }
    }

    /// All submissions that are kept, oldest first.
    public func submissions() -> (list: [MailSubmission], state: String) {
        read { state in
            let identity = state.identityID
            return (
                state.submissions.all.map { MailSubmission($0, identityID: identity) },
                state.states[.submission]
            )
        }
    }

    /// - Returns: `nil` where the account has no such blob.
    public func blob(_ id: String) -> MailBlob? {
        let now = environment.now()
        return read { state in
            guard let found = state.blob(id, at: now) else { return nil }
            return MailBlob(id: id, type: found.type, bytes: found.bytes.bytes)
        }
    }

    /// Keeps bytes for an hour, or until newer ones need the room.
    ///
    /// - Returns: the id of the blob.
    public func upload(_ bytes: [UInt8], type: String) throws(UploadError) -> String {
        guard bytes.count <= limits.uploadedBytes else { throw .tooLarge(limits.uploadedBytes) }
        guard let stored = StoredBytes([bytes], budget: budget, limit: limits.totalBytes) else {
            throw .overQuota
        }
        let now = environment.now()
        let number = write { state -> UInt64? in
            state.isClosed ? nil : state.insertBlob(stored, type: type, at: now)
        }
        guard let number else { throw .overQuota }
        return MailID.text(.blob, number)
    }
}

extension AccountState {
    func blob(
        _ id: String, at now: MailInstant
    ) -> (type: String, bytes: StoredBytes, summary: MessageSummary?)? {
        guard let number = MailID.number(.blob, id) else { return nil }
        // The blob of a message has the message's number.
        if let message = messages[number] {
            return ("message/rfc822", message.content.stored, message.content.summary)
        }
        return blobs.blob(number, at: now, limits: limits).map { ($0.type, $0.bytes, nil) }
    }
}

extension MailFolder {
    init(_ folder: StoredFolder) {
        self.init(
            id: MailID.text(.folder, folder.number), name: folder.name,
            parentID: folder.parent.map { MailID.text(.folder, $0) }, role: folder.role,
            sortOrder: folder.sortOrder, isSubscribed: folder.isSubscribed, counts: folder.counts)
    }
}

extension MailEmail {
    init(_ message: StoredMessage) {
        self.init(
            number: message.number, thread: message.thread, folders: message.folders,
            keywords: message.keywords, receivedAt: message.receivedAt, content: message.content)
    }
}

extension MailSubmission {
    init(_ submission: StoredSubmission, identityID: String) {
        self.init(
            id: MailID.text(.submission, submission.number), identityID: identityID,
            emailID: MailID.text(.message, submission.email),
            threadID: MailID.text(.thread, submission.thread), envelope: submission.envelope,
            sentAt: submission.sentAt, deliveryStatus: submission.deliveryStatus)
    }
}
