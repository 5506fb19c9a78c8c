/// A filter whose ids, keywords and words were read once.
struct CompiledFilter {
    indirect enum Node {
        case all([Node])
        case any([Node])
        case not(Node)
        /// No folder has the number 0.
        case folder(UInt64)
        case otherFolder(Set<UInt64>)
        case words(TextField, SearchTerms)
        case message(@Sendable (StoredMessage) -> Bool)
        case thread(ThreadRule)
        /// The index of one of ``CompiledFilter/contents``.
        case content(Int)
    }

    /// A part of the summary that words are looked for in.
    enum TextField: Hashable {
        case from, to, cc, bcc, subject

        func texts(of summary: MessageSummary) -> [String] {
            switch self {
            case .from: SearchTexts.of(summary.from)
            case .to: SearchTexts.of(summary.to)
            case .cc: SearchTexts.of(summary.cc)
            case .bcc: SearchTexts.of(summary.bcc)
            case .subject: [summary.subject ?? ""]
            }
        }
    }

    /// Whether all or some messages of a thread have a keyword.
    struct ThreadRule: Hashable {
        let keyword: String
        let isAll: Bool
    }

    /// A condition that needs the bytes of the message.
    enum Content: Hashable, Sendable {
        case text(SearchTerms)
        case body(SearchTerms)
        case header(name: String, value: SearchTerms?)
    }

    private(set) var root: Node = .all([])
    private(set) var contents: [Content] = []
    /// Whether nothing that it looks at ever changes in a message.
    private(set) var isImmutable = true
    private(set) var looksAtThreads = false
    private var conditions = 0
    private let limits: MailLimits

    init(_ filter: MailFilter?, limits: MailLimits) throws(MailQueryError) {
        self.limits = limits
        if let filter { root = try compile(filter, depth: 1) }
    }

    /// The folder that every match is in, if the filter says so.
    var folder: UInt64? {
        switch root {
        case .folder(let number): number
        case .all(let nodes):
            nodes.lazy.compactMap { if case .folder(let number) = $0 { number } else { nil } }.first
        default: nil
        }
    }

    /// Whether it asks for ``folder`` and nothing else.
    var isFolderOnly: Bool {
        switch root {
        case .folder: true
        case .all(let nodes): nodes.count == 1 && folder != nil
        default: false
        }
    }

    var matchesAll: Bool {
        if case .all(let nodes) = root { nodes.isEmpty } else { false }
    }

    private mutating func compile(
        _ filter: MailFilter, depth: Int
    ) throws(MailQueryError) -> Node {
        // Operators count, because one without conditions takes as long as a condition.
        conditions += 1
        guard depth <= limits.filterDepth, conditions <= limits.filterConditions else {
            throw .unsupportedFilter
        }
        switch filter {
        case .all(let filters): return .all(try compile(filters, depth))
        case .any(let filters): return .any(try compile(filters, depth))
        case .none(let filters): return .not(.any(try compile(filters, depth)))
        case .condition(let condition): return compile(condition)
        }
    }

    private mutating func compile(
        _ filters: [MailFilter], _ depth: Int
    ) throws(MailQueryError) -> [Node] {
        var nodes: [Node] = []
        for filter in filters { nodes.append(try compile(filter, depth: depth + 1)) }
        return nodes
    }

    private mutating func compile(_ condition: MailCondition) -> Node {
        switch condition {
        case .inMailbox, .inMailboxOtherThan, .hasKeyword, .notKeyword,
            .allInThreadHaveKeyword, .someInThreadHaveKeyword, .noneInThreadHaveKeyword:
            isImmutable = false
            return compileMutable(condition)
        case .from(let text): return .words(.from, SearchTerms(text))
        case .to(let text): return .words(.to, SearchTerms(text))
        case .cc(let text): return .words(.cc, SearchTerms(text))
        case .bcc(let text): return .words(.bcc, SearchTerms(text))
        case .subject(let text): return .words(.subject, SearchTerms(text))
        case .text(let text): return content(.text(SearchTerms(text)))
        case .body(let text): return content(.body(SearchTerms(text)))
        case .header(let name, let value):
            return content(.header(name: name, value: value.map(SearchTerms.init)))
        default: return .message(Self.rule(condition))
        }
    }

    private mutating func compileMutable(_ condition: MailCondition) -> Node {
        switch condition {
        case .inMailbox(let id): return .folder(MailID.number(.folder, id) ?? 0)
        case .inMailboxOtherThan(let ids):
            return .otherFolder(Set(ids.compactMap { MailID.number(.folder, $0) }))
        case .allInThreadHaveKeyword(let keyword): return thread(keyword, isAll: true)
        case .someInThreadHaveKeyword(let keyword): return thread(keyword, isAll: false)
        case .noneInThreadHaveKeyword(let keyword): return .not(thread(keyword, isAll: false))
        default: return .message(Self.rule(condition))
        }
    }

    private mutating func thread(_ keyword: String, isAll: Bool) -> Node {
        looksAtThreads = true
        return .thread(ThreadRule(keyword: Keyword.lowered(keyword), isAll: isAll))
    }

    private mutating func content(_ content: Content) -> Node {
        contents.append(content)
        return .content(contents.count - 1)
    }

    /// The conditions that the stored message itself answers.
    private static func rule(_ condition: MailCondition) -> @Sendable (StoredMessage) -> Bool {
        switch condition {
        case .before(let time): { $0.receivedAt < time }
        case .after(let time): { $0.receivedAt >= time }
        case .minSize(let size): { $0.size >= size }
        case .maxSize(let size): { $0.size < size }
        case .hasAttachment(let has): { $0.content.summary.hasAttachment == has }
        case .hasKeyword(let keyword): Self.has(keyword, true)
        case .notKeyword(let keyword): Self.has(keyword, false)
        default: { _ in false }
        }
    }

    private static func has(
        _ keyword: String, _ has: Bool
    ) -> @Sendable (StoredMessage) -> Bool {
        let keyword = Keyword.lowered(keyword)
        return { $0.has(keyword) == has }
    }
}

enum SearchTexts {
    static func of(_ addresses: [MailAddress]) -> [String] {
        addresses.flatMap { [$0.name ?? "", $0.email] }
    }

    /// What a search for any text looks into besides the body.
    static func of(_ summary: MessageSummary) -> [String] {
        of(summary.from) + of(summary.to) + of(summary.cc) + of(summary.bcc)
            + [summary.subject ?? ""]
    }
}
