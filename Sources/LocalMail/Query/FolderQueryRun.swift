/// Mailbox/query and Mailbox/queryChanges on one account.
struct FolderQueryRun {
    /// A folder, and its name in lower case where something looks at names: each condition and
    /// each comparison would lower it again.
    private struct Candidate {
        let folder: StoredFolder
        let name: String
        let text: [[UInt8]]

        init(_ folder: StoredFolder, withName: Bool) {
            self.folder = folder
            name = withName ? folder.name.lowercased() : ""
            text = withName ? [Array(name.utf8)] : []
        }
    }

    private typealias Rule = (Candidate) -> Bool

    private let query: FolderQuery
    private let limits: MailLimits
    private var filter: Rule?
    private var conditions = 0
    private var looksAtNames: Bool

    init(_ query: FolderQuery, limits: MailLimits) throws(MailQueryError) {
        self.query = query
        self.limits = limits
        looksAtNames = query.sort.contains { $0.property == .name }
        if let filter = query.filter { self.filter = try compile(filter, depth: 1) }
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
        let candidates = state.folders.all.map { Candidate($0, withName: looksAtNames) }
            .sorted(by: precedes)
        let matching = Set(
            candidates.lazy.filter { filter?($0) ?? true }.map(\.folder.number))
        let sorted = candidates.map(\.folder)
        let ordered = query.sortAsTree ? tree(sorted) : sorted
        return ordered.filter { folder in
            guard matching.contains(folder.number) else { return false }
            return !query.filterAsTree || ancestors(of: folder, in: state).isSubset(of: matching)
        }.map(\.number)
    }

    private func precedes(_ one: Candidate, _ other: Candidate) -> Bool {
        let (left, right) = (one.folder, other.folder)
        for sort in query.sort {
            switch sort.property {
            case .sortOrder where left.sortOrder != right.sortOrder:
                return (left.sortOrder < right.sortOrder) == sort.isAscending
            case .name where one.name != other.name:
                return (one.name < other.name) == sort.isAscending
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

    private mutating func compile(
        _ filter: FolderQuery.Filter, depth: Int
    ) throws(MailQueryError) -> Rule {
        // Operators count, because one without conditions takes as long as a condition.
        conditions += 1
        guard depth <= limits.filterDepth, conditions <= limits.filterConditions else {
            throw .unsupportedFilter
        }
        switch filter {
        case .all(let filters):
            let rules = try compile(filters, depth)
            return { candidate in rules.allSatisfy { $0(candidate) } }
        case .any(let filters):
            let rules = try compile(filters, depth)
            return { candidate in rules.contains { $0(candidate) } }
        case .none(let filters):
            let rules = try compile(filters, depth)
            return { candidate in !rules.contains { $0(candidate) } }
        case .parent(nil): return { $0.folder.parent == nil }
        case .parent(let id?):
            let number = MailID.number(.folder, id)
            return { $0.folder.parent != nil && $0.folder.parent == number }
        case .name(let text):
            looksAtNames = true
            let terms = SearchTerms(text)
            return { terms.match(lowered: $0.text) }
        case .role(let role): return { $0.folder.role == role }
        case .hasAnyRole(let has): return { ($0.folder.role != nil) == has }
        case .isSubscribed(let isSubscribed): return { $0.folder.isSubscribed == isSubscribed }
        }
    }

    private mutating func compile(
        _ filters: [FolderQuery.Filter], _ depth: Int
    ) throws(MailQueryError) -> [Rule] {
        var rules: [Rule] = []
        for filter in filters { rules.append(try compile(filter, depth: depth + 1)) }
        return rules
    }
}
