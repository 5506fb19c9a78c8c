internal import Synchronization

/// The bytes of requests and responses that all connections of a server may buffer together.
///
/// Guarantees: no more than `limit` is ever granted. So clients that stop in the middle of a body,
/// or never read their responses, cost a limited amount of memory, however many there are.
final class BufferBudget: Sendable {
    private let limit: Int
    private let granted = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: false if the budget is too small; then no bytes are granted.
    func acquire(_ bytes: Int) -> Bool {
        guard granted.add(bytes, ordering: .relaxed).newValue <= limit else {
            release(bytes)
            return false
        }
        return true
    }

    func release(_ bytes: Int) {
        granted.subtract(bytes, ordering: .relaxed)
    }

    var grantedBytes: Int { granted.load(ordering: .relaxed) }
}

/// The share of one connection in the ``BufferBudget``.
struct BufferCharge {
    /// Not charged: nearly every request and response fits in, so that clients that buffer much do
    /// not block clients that buffer little.
    static let freeBytes = 8_192

    private let budget: BufferBudget
    private var charged = 0

    init(budget: BufferBudget) { self.budget = budget }

    /// Charges or releases the difference to the last call.
    /// - Returns: false when the budget is too small; then nothing has changed.
    mutating func update(heldBytes: Int) -> Bool {
        let owed = max(0, heldBytes - BufferCharge.freeBytes)
        guard owed != charged else { return true }
        if owed > charged {
            guard budget.acquire(owed - charged) else { return false }
        } else {
            budget.release(charged - owed)
        }
        charged = owed
        return true
    }
}
