/// Which messages belong together (RFC 8621 §3): those that share a message id and whose subjects
/// are the same without `Re:` and the like.
///
/// A message that would join two threads goes into the older one: the thread of a message never
/// changes.
struct ThreadTable {
    private struct Thread {
        var dates = DateIndex()
        var unread = 0
        /// How many of its messages are in a folder.
        var folders: [(number: UInt64, count: Int)] = []
        var keys: [Int] = []

        mutating func add(_ count: Int, to folder: UInt64) {
            if let index = folders.firstIndex(where: { $0.number == folder }) {
                folders[index].count += count
                if folders[index].count == 0 { folders.remove(at: index) }
            } else {
                folders.append((folder, count))
            }
        }
    }

    /// By how much the counts of a folder change.
    struct FolderChange {
        let folder: UInt64
        let threads: Int
        let unreadThreads: Int
    }

    /// References are as long as a sender likes.
    private static let maximumIDs = 100

    private var threads: [UInt64: Thread] = [:]
    /// A hash of message id and subject, to the oldest thread that has it. The hash has a random
    /// key in each process, so that nobody can make two that are equal.
    private var owners: [Int: UInt64] = [:]

    var count: Int { threads.count }

    /// - Returns: its messages, oldest first; `nil` for an unknown thread.
    func messages(of thread: UInt64) -> [UInt64]? {
        threads[thread]?.dates.numbers
    }

    /// - Returns: the thread that a message with this summary belongs to, if there is one.
    func thread(keys: [Int]) -> UInt64? {
        keys.compactMap { owners[$0] }.min()
    }

    static func keys(of summary: MessageSummary) -> [Int] {
        let ids =
            summary.messageIDs.prefix(1) + summary.inReplyTo.prefix(10)
            + summary.references.suffix(maximumIDs)
        guard !ids.isEmpty else { return [] }
        let subject = Array(BaseSubject.compared(summary.subject ?? "").utf8)
        var keys: [Int] = []
        for id in ids {
            var hasher = Hasher()
            // Not as texts: to hash many combining marks takes quadratic time.
            hasher.combine(Array(id.utf8))
            hasher.combine(subject)
            let key = hasher.finalize()
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    mutating func insert(_ message: StoredMessage, keys: [Int]) {
        let new = keys.filter { owners[$0] == nil }
        for key in new { owners[key] = message.thread }
        threads[message.thread, default: Thread()].keys += new
        threads[message.thread]?.dates.insert(message.dated)
    }

    /// - Returns: whether that was the thread's last message.
    mutating func remove(_ message: StoredMessage) -> Bool {
        threads[message.thread]?.dates.remove(message.dated)
        guard let thread = threads[message.thread], thread.dates.entries.isEmpty else {
            return false
        }
        for key in thread.keys { owners[key] = nil }
        threads[message.thread] = nil
        return true
    }

    /// Counts a message's folders and whether it is unread, when they change.
    ///
    /// - Parameter before: `nil` for a new message.
    /// - Parameter after: `nil` for one that goes.
    mutating func count(
        _ thread: UInt64, before: StoredMessage?, after: StoredMessage?
    ) -> [FolderChange] {
        guard var counted = threads[thread] else { return [] }
        // Taken out, so that it is changed in place.
        threads[thread]?.folders = []
        let old = counted.folders
        let wasUnread = counted.unread > 0
        counted.unread += (after?.isUnread == true ? 1 : 0) - (before?.isUnread == true ? 1 : 0)
        for folder in before?.folders ?? [] { counted.add(-1, to: folder) }
        for folder in after?.folders ?? [] { counted.add(1, to: folder) }
        let isUnread = counted.unread > 0
        var changes: [FolderChange] = []
        for (folder, _) in old where !counted.folders.contains(where: { $0.number == folder }) {
            changes.append(
                FolderChange(folder: folder, threads: -1, unreadThreads: wasUnread ? -1 : 0))
        }
        for (folder, _) in counted.folders {
            let wasThere = old.contains { $0.number == folder }
            let unread = (isUnread ? 1 : 0) - (wasThere && wasUnread ? 1 : 0)
            if !wasThere || unread != 0 {
                changes.append(
                    FolderChange(folder: folder, threads: wasThere ? 0 : 1, unreadThreads: unread))
            }
        }
        threads[thread]?.folders = counted.folders
        threads[thread]?.unread = counted.unread
        return changes
    }
}
