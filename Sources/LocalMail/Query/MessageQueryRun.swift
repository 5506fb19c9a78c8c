/// Email/query and Email/queryChanges on one account.
struct MessageQueryRun {
    private let filter: CompiledFilter
    private let order: MessageOrder
    private let collapsesThreads: Bool
    private(set) var verdicts: ContentVerdicts

    init(_ query: MailQuery, limits: MailLimits) throws(MailQueryError) {
        filter = try CompiledFilter(query.filter, limits: limits)
        order = MessageOrder(query.sort)
        collapsesThreads = query.collapseThreads
        verdicts = ContentVerdicts(filter)
    }

    /// - Returns: the messages whose bytes must be read for the results, which are those that the
    ///   other conditions leave.
    func unread(in state: AccountState) -> [StoredMessage] {
        if filter.contents.isEmpty { return [] }
        var run = FilterRun(filter, verdicts: verdicts)
        return candidates(in: state).compactMap { entry in
            guard let message = state.messages[entry.number],
                run.matches(message, in: state) == nil
            else { return nil }
            return message
        }
    }

    mutating func read(_ messages: [StoredMessage], with reader: any MessageReader) {
        verdicts.read(messages, with: reader)
    }

    /// Requires that nothing is ``unread(in:)``.
    func result(
        _ window: QueryWindow, in state: AccountState
    ) throws(MailQueryError) -> MailQueryResult {
        let known = total(in: state)
        let anchor = window.anchor.map { MailID.number(.message, $0) }
        let needsAll =
            window.calculateTotal && known == nil || anchor != nil || window.position < 0
        var end: Int?
        if !needsAll, let limit = window.limit {
            end = window.position.addingReportingOverflow(max(0, limit)).partialValue
            if let reached = end, reached < 0 { end = nil }
        }
        let results = results(in: state, limit: end)
        var position = window.position
        if let anchor {
            guard let anchor, let index = results.firstIndex(of: anchor) else {
                throw .anchorNotFound
            }
            position = max(0, index.addingReportingOverflow(window.anchorOffset).partialValue)
        } else if position < 0 {
            position = max(0, results.count.addingReportingOverflow(position).partialValue)
        }
        let ids = results.dropFirst(position).prefix(max(0, window.limit ?? .max))
        return MailQueryResult(
            queryState: state.states[.email], position: position,
            ids: ids.map { MailID.text(.message, $0) },
            total: window.calculateTotal ? known ?? results.count : nil)
    }

    /// Requires that nothing is ``unread(in:)``.
    func changes(
        since old: String, upToID: String?, limit: Int?, calculateTotal: Bool,
        in state: AccountState
    ) throws(MailChangesError) -> MailQueryChanges {
        guard let log = state.log(of: .email)?.log, let entries = log.entries(since: old) else {
            throw .cannotCalculateChanges
        }
        var net = NetChanges()
        for entry in entries { net.include(entry) }
        let removed = removed(net, state)
        let results = results(in: state, limit: nil)
        let isRemoved = Set(removed)
        var last = results.count
        // RFC 8620 §5.6: what comes after it is left out only if nothing moves.
        if isImmutable, let id = upToID, let number = MailID.number(.message, id),
            let index = results.firstIndex(of: number)
        {
            last = index + 1
        }
        var added: [MailQueryChanges.Added] = []
        for index in 0..<last {
            let number = results[index]
            guard net.isCreated(number) || isRemoved.contains(number) else { continue }
            added.append(.init(id: MailID.text(.message, number), index: index))
        }
        if let limit, removed.count + added.count > limit { throw .tooManyChanges }
        return MailQueryChanges(
            oldState: old, newState: state.states[.email],
            total: calculateTotal ? results.count : nil,
            removed: removed.map { MailID.text(.message, $0) }, added: added)
    }

    private var looksAtThreads: Bool {
        filter.looksAtThreads || order.looksAtThreads || collapsesThreads
    }

    private var isImmutable: Bool {
        filter.isImmutable && order.isImmutable && !looksAtThreads
    }

    /// What was, or may have been, in the old results and is gone or elsewhere.
    private func removed(_ net: NetChanges, _ state: AccountState) -> [UInt64] {
        if isImmutable {
            return net.changedBefore.filter { state.messages[$0] == nil }
        }
        var removed = net.changedBefore
        if looksAtThreads {
            // A message may come or go because of another one of its thread.
            let known = Set(removed)
            for thread in net.threads.sorted() {
                removed += (state.threads.messages(of: thread) ?? []).filter {
                    !known.contains($0) && !net.isCreated($0)
                }
            }
        }
        return removed
    }

    /// - Returns: the total where it needs no look at the messages.
    private func total(in state: AccountState) -> Int? {
        if filter.matchesAll {
            return collapsesThreads ? state.threads.count : state.messages.dates.entries.count
        }
        guard filter.isFolderOnly else { return nil }
        let counts = filter.folder.flatMap { state.folders[$0] }?.counts
        return (collapsesThreads ? counts?.totalThreads : counts?.totalEmails) ?? 0
    }

    private func candidates(in state: AccountState) -> [DateIndex.Entry] {
        guard let folder = filter.folder else { return state.messages.dates.entries }
        return state.folders[folder]?.dates.entries ?? []
    }

    /// - Parameter limit: how many of the first are needed.
    private func results(in state: AccountState, limit: Int?) -> [UInt64] {
        let candidates = candidates(in: state)
        switch order.arrival {
        case true?: return matches(candidates, state, limit)
        case false?: return matches(candidates.lazy.reversed(), state, limit)
        case nil:
            var run = FilterRun(filter, verdicts: verdicts)
            let messages = candidates.compactMap { state.messages[$0.number] }
                .filter { run.matches($0, in: state) == true }
            return collapsed(order.sorted(messages, in: state, run: &run))
        }
    }

    private func matches(
        _ candidates: some Sequence<DateIndex.Entry>, _ state: AccountState, _ limit: Int?
    ) -> [UInt64] {
        var run = FilterRun(filter, verdicts: verdicts)
        var threads: Set<UInt64> = []
        var results: [UInt64] = []
        if limit == 0 { return [] }
        let needsNoMessage = !collapsesThreads && (filter.matchesAll || filter.isFolderOnly)
        for entry in candidates {
            if !needsNoMessage {
                guard let message = state.messages[entry.number],
                    run.matches(message, in: state) == true,
                    !collapsesThreads || threads.insert(message.thread).inserted
                else { continue }
            }
            results.append(entry.number)
            if results.count == limit { break }
        }
        return results
    }

    private func collapsed(_ messages: [StoredMessage]) -> [UInt64] {
        var threads: Set<UInt64> = []
        return messages.filter { !collapsesThreads || threads.insert($0.thread).inserted }
            .map(\.number)
    }
}

extension MailQuery {
    /// Whether the answer is among the first messages of a folder, or of all, in the order of
    /// arrival: those have an index.
    ///
    /// - Parameter count: how many of them may be looked at.
    public func isOfFirst(_ count: Int, _ window: QueryWindow) -> Bool {
        switch filter {
        case .condition(.inMailbox)?, nil: break
        default: return false
        }
        guard MessageOrder(sort).arrival != nil, !collapseThreads, window.anchor == nil,
            let limit = window.limit
        else { return false }
        return (0...count).contains(window.position) && limit <= count - window.position
    }
}
