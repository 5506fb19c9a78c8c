/// One folder of an account.
struct StoredFolder {
    let number: UInt64
    let role: FolderRole?
    var name: String
    var parent: UInt64?
    var sortOrder: Int
    var isSubscribed: Bool
    var counts = FolderCounts()
    /// Its messages.
    var dates = DateIndex()
}

/// The folders of an account. No two with the same parent have the same name, and none is in
/// itself.
struct FolderTable {
    private static let maximumNameBytes = 255

    private var folders: [UInt64: StoredFolder] = [:]
    private let limits: MailLimits

    init(limits: MailLimits) {
        self.limits = limits
    }

    var count: Int { folders.count }

    /// By number, which is the order of their creation.
    var all: [StoredFolder] { folders.values.sorted { $0.number < $1.number } }

    subscript(number: UInt64) -> StoredFolder? { folders[number] }

    func folder(_ role: FolderRole) -> StoredFolder? {
        folders.values.first { $0.role == role }
    }

    /// - Parameter folder: without messages.
    mutating func insert(_ folder: StoredFolder) throws(FolderSetError) {
        guard folders.count < limits.folders else { throw .forbidden }
        try check(folder, height: 1)
        folders[folder.number] = folder
    }

    /// - Returns: whether anything is different now.
    mutating func update(
        _ number: UInt64, _ patch: FolderPatch, parent: UInt64??
    ) throws(FolderSetError) -> Bool {
        guard let old = folders[number] else { throw .notFound }
        var (name, above, order, isSubscribed) = (
            old.name, old.parent, old.sortOrder, old.isSubscribed
        )
        if let new = patch.name { name = new }
        if let new = parent { above = new }
        if let new = patch.sortOrder { order = new }
        if let new = patch.isSubscribed { isSubscribed = new }
        let checked = StoredFolder(
            number: number, role: old.role, name: name, parent: above, sortOrder: order,
            isSubscribed: isSubscribed)
        try check(checked, height: height(of: number))
        let isSame =
            name == old.name && above == old.parent && order == old.sortOrder
            && isSubscribed == old.isSubscribed
        if isSame { return false }
        folders[number]?.name = name
        folders[number]?.parent = above
        folders[number]?.sortOrder = order
        folders[number]?.isSubscribed = isSubscribed
        return true
    }

    /// - Throws: unless the folder is there, has no child and may be destroyed.
    func checkRemoval(of number: UInt64) throws(FolderSetError) {
        guard let folder = folders[number] else { throw .notFound }
        // Deliveries would have no place.
        if folder.role == .inbox { throw .forbidden }
        if folders.values.contains(where: { $0.parent == number }) { throw .mailboxHasChild }
    }

    mutating func remove(_ number: UInt64) {
        folders[number] = nil
    }

    mutating func insert(_ message: StoredMessage, into number: UInt64) {
        folders[number]?.dates.insert(message.dated)
        folders[number]?.counts.totalEmails += 1
        if message.isUnread { folders[number]?.counts.unreadEmails += 1 }
    }

    mutating func remove(_ message: StoredMessage, from number: UInt64) {
        folders[number]?.dates.remove(message.dated)
        folders[number]?.counts.totalEmails -= 1
        if message.isUnread { folders[number]?.counts.unreadEmails -= 1 }
    }

    mutating func countUnread(_ change: Int, in number: UInt64) {
        folders[number]?.counts.unreadEmails += change
    }

    mutating func count(_ change: ThreadTable.FolderChange) {
        folders[change.folder]?.counts.totalThreads += change.threads
        folders[change.folder]?.counts.unreadThreads += change.unreadThreads
    }

    /// - Parameter height: how many levels the folder and those in it take.
    private func check(_ folder: StoredFolder, height: Int) throws(FolderSetError) {
        var invalid: [String] = []
        if !isValid(folder) { invalid.append("name") }
        if !isValidParent(of: folder, height: height) { invalid.append("parentId") }
        if !(0...Int(Int32.max)).contains(folder.sortOrder) { invalid.append("sortOrder") }
        if !invalid.isEmpty { throw .invalidProperties(invalid) }
    }

    private func isValid(_ folder: StoredFolder) -> Bool {
        let name = folder.name.utf8
        let isTaken = folders.values.contains {
            $0.parent == folder.parent && $0.name == folder.name && $0.number != folder.number
        }
        return !name.isEmpty && name.count <= Self.maximumNameBytes && !isTaken
            && name.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private func isValidParent(of folder: StoredFolder, height: Int) -> Bool {
        var next = folder.parent
        var depth = height
        while let number = next {
            guard number != folder.number, let parent = folders[number] else { return false }
            depth += 1
            next = parent.parent
        }
        return depth <= limits.folderDepth
    }

    private func height(of number: UInt64) -> Int {
        var level: Set = [number]
        var height = 0
        while !level.isEmpty {
            height += 1
            level = Set(
                folders.values.filter { $0.parent.map(level.contains) ?? false }.map(\.number))
        }
        return height
    }
}
