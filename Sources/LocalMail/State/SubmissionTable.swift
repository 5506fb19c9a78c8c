/// The last submissions of an account, oldest first.
struct SubmissionTable {
    private(set) var all: [StoredSubmission] = []

    subscript(number: UInt64) -> StoredSubmission? {
        index(of: number).map { all[$0] }
    }

    /// - Returns: the numbers of those that were dropped for it.
    mutating func append(_ submission: StoredSubmission, limit: Int) -> [UInt64] {
        all.append(submission)
        let dropped = all.prefix(max(0, all.count - limit)).map(\.number)
        all.removeFirst(dropped.count)
        return dropped
    }

    /// - Returns: `false` where there is none.
    mutating func remove(_ number: UInt64) -> Bool {
        guard let index = index(of: number) else { return false }
        all.remove(at: index)
        return true
    }

    private func index(of number: UInt64) -> Int? {
        let index = all.partitionIndex { $0.number >= number }
        return index < all.count && all[index].number == number ? index : nil
    }
}

struct StoredSubmission {
    let number: UInt64
    let email: UInt64
    let thread: UInt64
    let envelope: MailEnvelope
    let sentAt: MailInstant
    let deliveryStatus: [RecipientStatus]
}
