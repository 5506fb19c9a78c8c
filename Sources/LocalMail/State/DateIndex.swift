/// Messages by the time of their arrival. To add a newer one than all costs the same for any size.
struct DateIndex {
    struct Entry: Comparable {
        let receivedAt: MailInstant
        let number: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            (left.receivedAt, left.number) < (right.receivedAt, right.number)
        }
    }

    /// Oldest first.
    private(set) var entries: [Entry] = []

    var numbers: [UInt64] { entries.map(\.number) }

    mutating func insert(_ entry: Entry) {
        if let last = entries.last, entry < last {
            entries.insert(entry, at: entries.partitionIndex { $0 > entry })
        } else {
            entries.append(entry)
        }
    }

    mutating func remove(_ entry: Entry) {
        let index = entries.partitionIndex { $0 >= entry }
        if index < entries.count, entries[index] == entry { entries.remove(at: index) }
    }
}
