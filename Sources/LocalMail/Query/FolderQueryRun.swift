/// Mailbox/query and Mailbox/queryChanges on one account.
struct FolderQueryRun {
    private let query: FolderQuery

    init(_ query: FolderQuery, limits: MailLimits) throws(MailQueryError) {
        self.query = query
        var conditions = 0
        if let filter = query.filter {
            try Self.check(filter, depth: 1, conditions: &conditions, limits: limits)
        }
    }

    func result(
        _ window: QueryWindow, in state: AccountState
    ) throws(MailQueryError) -> MailQueryResult {
        let results = results(in: state)
        var position = window.position
        if let anchor = window.anchor {
            let number = MailID.number(.folder, anchor)
            guard let index = results.firstIndex(where: { $0 == number }) else {
                throw .anchorNotFound
            }
            position = max(0, index.addingReportingOverflow(window.anchorOffset).partialValue)
        } else if position < 0 {
            position = max(0, results.count.addingReportingOverflow(position).partialValue)
        }
        let ids = results.dropFirst(position).prefix(max(0, window.limit ?? .max))
        return MailQueryResult(
            queryState: state.states[.mailbox], position: position,
            ids: ids.map { MailID.text(.folder, $0) },
            total: window.calculateTotal ? results.count : nil)
    }

    func changes(
        since old: String, upToID: String?, limit: Int?, calculateTotal: Bool,
        in state: AccountState
    ) throws(MailChangesError) -> MailQueryChanges {
        guard let log = state.log(of: .mailbox)?.log, let entries = log.entries(since: old) else {
            throw .cannotCalculateChanges
        }
        var net = NetChanges()
        // No filter and no order looks at counts.
        for entry in entries where !entry.onlyCounts { net.include(entry) }
        var removed = net.changedBefore
        if (query.sortAsTree || query.filterAsTree) && !net.order.isEmpty {
            // A folder moves with those that it is in.
            let known = Set(removed)
            removed += state.folders.all.map(\.number).filter {
                !known.contains($0) && !net.isCreated($0)
            }
        }
        let results = results(in: state)
        let isRemoved = Set(removed)
        let added = results.enumerated().filter {
            net.isCreated($0.element) || isRemoved.contains($0.element)
        }
        if let limit, removed.count + added.count > limit { throw .tooManyChanges }
        return MailQueryChanges(
            oldState: old, newState: state.states[.mailbox],
            total: calculateTotal ? results.count : nil,
            removed: removed.map { MailID.text(.folder, $0) },
            added: added.map { .init(id: MailID.text(.folder, $0.element), index: $0.offset) })
    }

    private func results(in state: AccountState) -> [UInt64] {
        let sorted = state.folders.all.sorted(by: precedes)
        let matching = Set(
            sorted.filter { folder in query.filter.map { matches($0, folder) } ?? true }
                .map(\.number))
        let ordered = query.sortAsTree ? tree(sorted) : sorted
        return ordered.filter { folder in
            guard matching.contains(folder.number) else { return false }
            return !query.filterAsTree || ancestors(of: folder, in: state).isSubset(of: matching)
        }.map(\.number)
    }

    private func precedes(_ left: StoredFolder, _ right: StoredFolder) -> Bool {
        for sort in query.sort {
            switch sort.property {
            case .sortOrder where left.sortOrder != right.sortOrder:
                return (left.sortOrder < right.sortOrder) == sort.isAscending
            case .name:
                let (one, other) = (left.name.lowercased(), right.name.lowercased())
                if one != other { return (one < other) == sort.isAscending }
            default: break
            }
        }
        return (left.number < right.number) == (query.sort.first?.isAscending ?? true)
    }

    /// Each folder before those in it (RFC 8621 §2.3, `sortAsTree`).
    private func tree(_ sorted: [StoredFolder]) -> [StoredFolder] {
        let children = Dictionary(grouping: sorted, by: \.parent)
        var result: [StoredFolder] = []
        var left = Array((children[nil] ?? []).reversed())
        while let folder = left.popLast() {
            result.append(folder)
            left += (children[folder.number] ?? []).reversed()
        }
        return result
    }

    private func ancestors(of folder: StoredFolder, in state: AccountState) -> Set<UInt64> {
        var ancestors: Set<UInt64> = []
        var next = folder.parent
        while let number = next {
            ancestors.insert(number)
            next = state.folders[number]?.parent
        }
        return ancestors
    }

    private func matches(_ filter: FolderQuery.Filter, _ folder: StoredFolder) -> Bool {
        switch filter {
        case .all(let filters): filters.allSatisfy { matches($0, folder) }
        case .any(let filters): filters.contains { matches($0, folder) }
        case .none(let filters): !filters.contains { matches($0, folder) }
        case .parent(let id):
            if let id {
                folder.parent != nil && folder.parent == MailID.number(.folder, id)
            } else {
                folder.parent == nil
            }
        case .name(let text): SearchTerms(text).match(folder.name)
        case .role(let role): folder.role == role
        case .hasAnyRole(let has): (folder.role != nil) == has
        case .isSubscribed(let isSubscribed): folder.isSubscribed == isSubscribed
        }
    }

    private static func check(
        _ filter: FolderQuery.Filter, depth: Int, conditions: inout Int, limits: MailLimits
    ) throws(MailQueryError) {
        // Operators count, because one without conditions takes as long as a condition.
        conditions += 1
        guard depth <= limits.filterDepth, conditions <= limits.filterConditions else {
            throw .unsupportedFilter
        }
        switch filter {
        case .all(let filters), .any(let filters), .none(let filters):
            for filter in filters {
                try check(filter, depth: depth + 1, conditions: &conditions, limits: limits)
            }
        default: break
        }
    }
}
