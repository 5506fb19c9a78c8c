/// One message of an account.
struct StoredMessage {
    let number: UInt64
    let thread: UInt64
    let receivedAt: MailInstant
    let content: MailContent
    /// At least one.
    var folders: [UInt64]
    /// In lower case, sorted.
    var keywords: [String]

    var size: Int { content.bytes.count }
    var dated: DateIndex.Entry { DateIndex.Entry(receivedAt: receivedAt, number: number) }

    /// RFC 8621 §2, `unreadEmails`.
    var isUnread: Bool { !keywords.contains { $0 == "$seen" || $0 == "$draft" } }

    func has(_ keyword: String) -> Bool { keywords.contains(keyword) }
}

/// The messages of an account, by number.
///
/// Numbers only grow, so a sorted array serves: a dictionary would take twice the memory.
struct MessageTable {
    private var numbers: [UInt64] = []
    /// `nil` for a message that was removed.
    private var slots: [StoredMessage?] = []
    private var removed = 0

    /// By the time of their arrival.
    private(set) var dates = DateIndex()
    private(set) var bytes = 0

    subscript(number: UInt64) -> StoredMessage? {
        index(of: number).flatMap { slots[$0] }
    }

    /// - Parameter message: its number is larger than all before.
    mutating func append(_ message: StoredMessage) {
        numbers.append(message.number)
        slots.append(message)
        dates.insert(message.dated)
        bytes += message.size
    }

    /// Only folders and keywords may differ.
    mutating func replace(_ message: StoredMessage) {
        guard let index = index(of: message.number) else { return }
        slots[index] = message
    }

    mutating func remove(_ number: UInt64) {
        guard let index = index(of: number), let message = slots[index] else { return }
        dates.remove(message.dated)
        bytes -= message.size
        slots[index] = nil
        removed += 1
        if removed > slots.count / 2 { compact() }
    }

    /// - Returns: numbers larger than `number`, in their order.
    func numbers(after number: UInt64) -> [UInt64] {
        let start = numbers.partitionIndex { $0 > number }
        return (start..<numbers.count).compactMap { slots[$0]?.number }
    }

    private func index(of number: UInt64) -> Int? {
        let index = numbers.partitionIndex { $0 >= number }
        return index < numbers.count && numbers[index] == number ? index : nil
    }

    private mutating func compact() {
        let kept = slots.compactMap(\.self)
        numbers = kept.map(\.number)
        slots = kept
        removed = 0
    }
}
