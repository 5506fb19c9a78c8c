/// Asks one filter about the messages of an account.
struct FilterRun {
    let filter: CompiledFilter
    let verdicts: ContentVerdicts
    private var threads: [CompiledFilter.ThreadRule: [UInt64: Bool]] = [:]
    /// The texts of one message in lower case, for all conditions on them.
    private var lowered: (message: UInt64?, texts: [CompiledFilter.TextField: [[UInt8]]]) =
        (nil, [:])

    init(_ filter: CompiledFilter, verdicts: ContentVerdicts) {
        self.filter = filter
        self.verdicts = verdicts
    }

    /// - Returns: `nil` if that depends on bytes that were not read yet.
    mutating func matches(_ message: StoredMessage, in state: AccountState) -> Bool? {
        matches(filter.root, message, state)
    }

    /// Whether all or some messages of the thread have a keyword.
    mutating func holds(
        _ rule: CompiledFilter.ThreadRule, thread: UInt64, in state: AccountState
    ) -> Bool {
        if let known = threads[rule]?[thread] { return known }
        let messages = state.threads.messages(of: thread) ?? []
        let has = { (number: UInt64) in state.messages[number]?.has(rule.keyword) ?? false }
        let holds = rule.isAll ? messages.allSatisfy(has) : messages.contains(where: has)
        threads[rule, default: [:]][thread] = holds
        return holds
    }

    private mutating func matches(
        _ node: CompiledFilter.Node, _ message: StoredMessage, _ state: AccountState
    ) -> Bool? {
        switch node {
        case .all(let nodes): return firstDecision(false, nodes, message, state)
        case .any(let nodes): return firstDecision(true, nodes, message, state)
        case .not(let node): return matches(node, message, state).map { !$0 }
        case .folder(let number): return message.folders.contains(number)
        case .otherFolder(let numbers): return message.folders.contains { !numbers.contains($0) }
        case .words(let field, let terms): return terms.match(lowered: texts(field, of: message))
        case .message(let rule): return rule(message)
        case .thread(let rule): return holds(rule, thread: message.thread, in: state)
        case .content(let index): return verdicts[message.number, index]
        }
    }

    private mutating func texts(
        _ field: CompiledFilter.TextField, of message: StoredMessage
    ) -> [[UInt8]] {
        if lowered.message != message.number { lowered = (message.number, [:]) }
        if let known = lowered.texts[field] { return known }
        let texts = SearchTerms.lowered(field.texts(of: message.content.summary))
        lowered.texts[field] = texts
        return texts
    }

    /// - Returns: `decision` if a node gives it, and its opposite if none does. What is not known
    ///   yet does not matter where another node decides: bytes are read for the rest only.
    private mutating func firstDecision(
        _ decision: Bool, _ nodes: [CompiledFilter.Node], _ message: StoredMessage,
        _ state: AccountState
    ) -> Bool? {
        var isUnknown = false
        for node in nodes {
            switch matches(node, message, state) {
            case decision?: return decision
            case nil: isUnknown = true
            default: break
            }
        }
        return isUnknown ? nil : !decision
    }
}
