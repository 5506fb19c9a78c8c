/// Everything of one account, behind the lock of ``AccountMail``.
///
/// Guarantees that folders, threads, counts and change logs agree after each method.
struct AccountState {
    let account: MailAccount
    let limits: MailLimits
    private(set) var folders: FolderTable
    private(set) var messages = MessageTable()
    private(set) var threads = ThreadTable()
    private(set) var blobs = BlobTable()
    private(set) var submissions = SubmissionTable()
    /// The account was removed: nothing comes in any more.
    private(set) var isClosed = false

    private let start: UInt64
    /// The greatest number that anything of the account has.
    private(set) var lastNumber: UInt64
    private var deliveryState: UInt64
    private var folderLog: ChangeLog
    private var messageLog: ChangeLog
    private var threadLog: ChangeLog
    private var submissionLog: ChangeLog

    /// - Parameter random: see ``MailID``.
    init(account: MailAccount, limits: MailLimits, random: UInt64) {
        self.account = account
        self.limits = limits
        start = MailID.start(random: random)
        lastNumber = start
        deliveryState = start
        folders = FolderTable(limits: limits)
        let log = ChangeLog(start: start, limit: limits.changes)
        (folderLog, messageLog, threadLog, submissionLog) = (log, log, log, log)
        for (index, role) in FolderRole.allCases.enumerated() {
            let folder = StoredFolder(
                number: takeNumber(), role: role, name: role.folderName, parent: nil,
                sortOrder: index + 1, isSubscribed: true)
            // Their names differ, and no limit is below their number.
            try? folders.insert(folder)
        }
    }

    var identityID: String { MailID.text(.identity, start) }

    var states: MailStates {
        MailStates(numbers: [
            folderLog.state, messageLog.state, threadLog.state, submissionLog.state, start,
            deliveryState,
        ])
    }

    /// - Returns: `nil` for identities and deliveries, which nothing changes one by one.
    func log(of type: MailType) -> (log: ChangeLog, kind: MailID.Kind)? {
        switch type {
        case .mailbox: (folderLog, .folder)
        case .email: (messageLog, .message)
        case .thread: (threadLog, .thread)
        case .submission: (submissionLog, .submission)
        case .identity, .emailDelivery: nil
        }
    }

    /// Whether a message of this account may have had the number.
    func hasGiven(_ number: UInt64) -> Bool { number > start && number <= lastNumber }

    mutating func close() {
        isClosed = true
        messages = MessageTable()
        threads = ThreadTable()
        blobs = BlobTable()
        submissions = SubmissionTable()
        folders = FolderTable(limits: limits)
    }

    // MARK: Messages

    /// - Parameter folders: at least one, and all exist.
    mutating func insert(
        _ content: MailContent, threadKeys: [Int], folders: [UInt64], keywords: [String],
        receivedAt: MailInstant
    ) -> StoredMessage {
        let number = takeNumber()
        let known = threads.thread(keys: threadKeys)
        let message = StoredMessage(
            number: number, thread: known ?? takeNumber(), receivedAt: receivedAt,
            content: content, folders: folders, keywords: keywords)
        messages.append(message)
        threads.insert(message, keys: threadKeys)
        for folder in folders { self.folders.insert(message, into: folder) }
        recount(message.thread, before: nil, after: message)
        messageLog.record(.created, number, thread: message.thread)
        threadLog.record(known == nil ? .created : .updated, message.thread)
        return message
    }

    /// A delivery changes the state of EmailDelivery, a message that a client puts somewhere does
    /// not.
    mutating func recordDelivery() {
        deliveryState += 1
    }

    /// - Parameter folders: at least one, and all exist.
    /// - Returns: whether anything is different now.
    mutating func update(_ number: UInt64, folders: [UInt64], keywords: [String]) -> Bool {
        guard let old = messages[number], old.folders != folders || old.keywords != keywords else {
            return false
        }
        var new = old
        new.folders = folders
        new.keywords = keywords
        messages.replace(new)
        for folder in old.folders where !folders.contains(folder) {
            self.folders.remove(old, from: folder)
        }
        let unread = (new.isUnread ? 1 : 0) - (old.isUnread ? 1 : 0)
        for folder in folders {
            if old.folders.contains(folder) {
                self.folders.countUnread(unread, in: folder)
            } else {
                self.folders.insert(new, into: folder)
            }
        }
        recount(new.thread, before: old, after: new)
        messageLog.record(.updated, number, thread: new.thread)
        return true
    }

    /// - Returns: `false` where there is none.
    mutating func removeMessage(_ number: UInt64) -> Bool {
        guard let message = messages[number] else { return false }
        messages.remove(number)
        for folder in message.folders { folders.remove(message, from: folder) }
        recount(message.thread, before: message, after: nil)
        let isLast = threads.remove(message)
        messageLog.record(.destroyed, number, thread: message.thread)
        threadLog.record(isLast ? .destroyed : .updated, message.thread)
        return true
    }

    // MARK: Folders

    mutating func insertFolder(
        _ draft: FolderDraft, parent: UInt64?
    ) throws(FolderSetError) -> UInt64 {
        if isClosed { throw .forbidden }
        let number = takeNumber()
        try folders.insert(
            StoredFolder(
                number: number, role: nil, name: draft.name, parent: parent,
                sortOrder: draft.sortOrder, isSubscribed: draft.isSubscribed))
        folderLog.record(.created, number)
        return number
    }

    /// - Parameter parent: what ``FolderPatch/parent`` names.
    mutating func updateFolder(
        _ number: UInt64, _ patch: FolderPatch, parent: UInt64??
    ) throws(FolderSetError) {
        if try folders.update(number, patch, parent: parent) { folderLog.record(.updated, number) }
    }

    mutating func removeFolder(_ number: UInt64, removesEmails: Bool) throws(FolderSetError) {
        try folders.checkRemoval(of: number)
        let numbers = folders[number]?.dates.numbers ?? []
        if !numbers.isEmpty, !removesEmails { throw .mailboxHasEmail }
        // From the newest, because taking the last out of an index moves nothing.
        for message in numbers.reversed() {
            guard let stored = messages[message] else { continue }
            let left = stored.folders.filter { $0 != number }
            if left.isEmpty {
                _ = removeMessage(message)
            } else {
                _ = update(message, folders: left, keywords: stored.keywords)
            }
        }
        folders.remove(number)
        folderLog.record(.destroyed, number)
    }

    // MARK: Submissions and blobs

    mutating func insertSubmission(
        email: UInt64, thread: UInt64, envelope: MailEnvelope, at now: MailInstant,
        status: [RecipientStatus]
    ) -> StoredSubmission {
        let submission = StoredSubmission(
            number: takeNumber(), email: email, thread: thread, envelope: envelope, sentAt: now,
            deliveryStatus: status)
        submissionLog.record(.created, submission.number)
        for dropped in submissions.append(submission, limit: limits.submissions) {
            submissionLog.record(.destroyed, dropped)
        }
        return submission
    }

    /// - Returns: `false` where there is none.
    mutating func removeSubmission(_ number: UInt64) -> Bool {
        guard submissions.remove(number) else { return false }
        submissionLog.record(.destroyed, number)
        return true
    }

    mutating func insertBlob(_ bytes: StoredBytes, type: String, at now: MailInstant) -> UInt64 {
        let number = takeNumber()
        blobs.insert(bytes, type: type, number: number, at: now, limits: limits)
        return number
    }

    /// Counts in the threads of folders, and writes the folders into the change log.
    private mutating func recount(
        _ thread: UInt64, before: StoredMessage?, after: StoredMessage?
    ) {
        let changes = threads.count(thread, before: before, after: after)
        for change in changes { folders.count(change) }
        let (old, new) = (before?.folders ?? [], after?.folders ?? [])
        let isOther = before?.isUnread != after?.isUnread
        var touched = changes.map(\.folder)
        for folder in old + new where isOther || !old.contains(folder) || !new.contains(folder) {
            touched.append(folder)
        }
        for folder in Set(touched).sorted() {
            folderLog.record(.updated, folder, onlyCounts: true)
        }
    }

    private mutating func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}
