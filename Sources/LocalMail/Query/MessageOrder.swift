/// The order that the comparators of a query give. Ties are ordered by number, in the direction of
/// the first comparator.
struct MessageOrder {
    private enum Key: Comparable {
        case number(Int64)
        case text([UInt8])

        static func < (left: Key, right: Key) -> Bool {
            switch (left, right) {
            case (.number(let left), .number(let right)): left < right
            case (.text(let left), .text(let right)): left.lexicographicallyPrecedes(right)
            default: false
            }
        }
    }

    private let sort: [MailSort]
    private let isAscending: Bool

    init(_ sort: [MailSort]) {
        self.sort = sort
        isAscending = sort.first?.isAscending ?? false
    }

    /// If the order is that of arrival: whether the oldest come first.
    var arrival: Bool? {
        guard let first = sort.first else { return false }
        return sort.count == 1 && first.property == .receivedAt ? first.isAscending : nil
    }

    var isImmutable: Bool { !sort.contains { Self.keyword($0.property) != nil } }

    var looksAtThreads: Bool {
        sort.contains {
            switch $0.property {
            case .allInThreadHaveKeyword, .someInThreadHaveKeyword: true
            default: false
            }
        }
    }

    func sorted(
        _ messages: [StoredMessage], in state: AccountState, run: inout FilterRun
    ) -> [StoredMessage] {
        var keyed: [(keys: [Key], message: StoredMessage)] = []
        keyed.reserveCapacity(messages.count)
        for message in messages {
            var keys: [Key] = []
            for comparator in sort {
                keys.append(key(comparator.property, message, state, &run))
            }
            keyed.append((keys, message))
        }
        keyed.sort { left, right in
            for (index, comparator) in sort.enumerated() {
                let (one, other) = (left.keys[index], right.keys[index])
                if one != other { return (one < other) == comparator.isAscending }
            }
            return (left.message.number < right.message.number) == isAscending
        }
        return keyed.map(\.message)
    }

    private func key(
        _ property: MailSort.Property, _ message: StoredMessage, _ state: AccountState,
        _ run: inout FilterRun
    ) -> Key {
        let summary = message.content.summary
        switch property {
        case .receivedAt: return .number(message.receivedAt.milliseconds)
        case .sentAt:
            return .number((summary.sentAt ?? message.receivedAt).milliseconds)
        case .size: return .number(Int64(message.size))
        case .from: return Self.text(summary.from.first?.display ?? "")
        case .to: return Self.text(summary.to.first?.display ?? "")
        case .subject: return Self.text(BaseSubject.text(summary.subject ?? ""))
        case .hasKeyword(let keyword):
            return .number(message.has(Keyword.lowered(keyword)) ? 1 : 0)
        case .allInThreadHaveKeyword(let keyword), .someInThreadHaveKeyword(let keyword):
            let isAll = property == .allInThreadHaveKeyword(keyword)
            let rule = CompiledFilter.ThreadRule(keyword: Keyword.lowered(keyword), isAll: isAll)
            return .number(run.holds(rule, thread: message.thread, in: state) ? 1 : 0)
        }
    }

    private static func text(_ text: String) -> Key { .text(Array(text.lowercased().utf8)) }

    private static func keyword(_ property: MailSort.Property) -> String? {
        switch property {
        case .hasKeyword(let keyword), .allInThreadHaveKeyword(let keyword),
            .someInThreadHaveKeyword(let keyword):
            keyword
        default: nil
        }
    }
}
