/// The changes of one type in one account, the last `limit` of them.
///
/// Each entry has a state of its own, so that every state between two others can be asked for.
struct ChangeLog {
    enum Kind {
        case created, updated, destroyed
    }

    struct Entry {
        let state: UInt64
        let number: UInt64
        let kind: Kind
        /// Of a message: its thread. It must be known after the message is gone.
        let thread: UInt64
        /// Of a folder: nothing but counts changed.
        let onlyCounts: Bool
    }

    private(set) var state: UInt64
    /// The state before the first entry that is kept.
    private var floor: UInt64
    private var entries: [Entry] = []
    private let limit: Int

    init(start: UInt64, limit: Int) {
        state = start
        floor = start
        self.limit = limit
    }

    mutating func record(
        _ kind: Kind, _ number: UInt64, thread: UInt64 = 0, onlyCounts: Bool = false
    ) {
        state += 1
        var onlyCounts = onlyCounts
        // Two updates of one object are one: who has the state between them asks for it again.
        if kind == .updated, let last = entries.last, last.kind == .updated, last.number == number {
            onlyCounts = onlyCounts && last.onlyCounts
            entries.removeLast()
        }
        entries.append(
            Entry(
                state: state, number: number, kind: kind, thread: thread, onlyCounts: onlyCounts))
        if entries.count > limit {
            // A quarter at once, because each removal moves the rest.
            let dropped = max(1, limit / 4)
            floor = entries[dropped - 1].state
            entries.removeFirst(dropped)
        }
    }

    /// - Returns: the entries after a state; `nil` where the state is unknown or no longer kept.
    func entries(since text: String) -> ArraySlice<Entry>? {
        guard let since = MailID.number(.state, text), since >= floor, since <= state else {
            return nil
        }
        let start = entries.partitionIndex { $0.state > since }
        return entries[start...]
    }

    /// RFC 8620 §5.2. What was created and destroyed since is left out.
    func changes(
        since text: String, limit: Int?, kind idKind: MailID.Kind
    ) throws(MailChangesError) -> MailChanges {
        guard let entries = entries(since: text) else { throw .cannotCalculateChanges }
        var net = NetChanges()
        var reached = state
        for entry in entries {
            if let limit, net.order.count >= max(1, limit), net.kinds[entry.number] == nil {
                // The state before this entry may not be the one of the entry before: two updates
                // were one.
                reached = net.lastState
                break
            }
            net.include(entry)
        }
        let isComplete = reached == state
        return MailChanges(
            oldState: text, newState: MailID.text(.state, reached), hasMoreChanges: !isComplete,
            created: net.ids(.created, idKind), updated: net.ids(.updated, idKind),
            destroyed: net.ids(.destroyed, idKind), onlyCounts: net.onlyCounts)
    }
}

/// The entries of a change log, object by object.
struct NetChanges {
    private(set) var kinds: [UInt64: ChangeLog.Kind?] = [:]
    /// In the order of the first change.
    private(set) var order: [UInt64] = []
    private(set) var threads: Set<UInt64> = []
    private(set) var lastState: UInt64 = 0
    private var hasOtherUpdates = false

    mutating func include(_ entry: ChangeLog.Entry) {
        lastState = entry.state
        threads.insert(entry.thread)
        guard let known = kinds[entry.number] else {
            kinds[entry.number] = entry.kind
            order.append(entry.number)
            if entry.kind == .updated, !entry.onlyCounts { hasOtherUpdates = true }
            return
        }
        switch (known, entry.kind) {
        case (.created, .destroyed): kinds.updateValue(nil, forKey: entry.number)
        case (.created, _): break
        case (_, .destroyed): kinds[entry.number] = .destroyed
        default: if !entry.onlyCounts { hasOtherUpdates = true }
        }
    }

    /// Objects that existed at the old state and may be different or gone.
    var changedBefore: [UInt64] {
        order.filter { kinds[$0] == .updated || kinds[$0] == .destroyed }
    }

    var onlyCounts: Bool {
        !hasOtherUpdates && order.contains { kinds[$0] == .updated }
    }

    func isCreated(_ number: UInt64) -> Bool { kinds[number] == .created }

    func ids(_ kind: ChangeLog.Kind, _ idKind: MailID.Kind) -> [String] {
        order.filter { kinds[$0] == kind }.map { MailID.text(idKind, $0) }
    }
}
