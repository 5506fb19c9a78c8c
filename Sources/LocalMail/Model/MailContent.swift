internal import Synchronization

/// The memory that all mail of a process may take. Counts what lives, whoever holds it.
final class MemoryBudget: Sendable {
    private let bytes = Atomic<Int>(0)
    private let messages = Atomic<Int>(0)

    var usedBytes: Int { bytes.load(ordering: .relaxed) }

    fileprivate func reserveMessage(limit: Int) -> Bool {
        guard messages.add(1, ordering: .relaxed).newValue > limit else { return true }
        releaseMessage()
        return false
    }

    fileprivate func releaseMessage() {
        messages.subtract(1, ordering: .relaxed)
    }

    /// - Returns: `false`, and reserves nothing, if that would be more than `limit`.
    fileprivate func reserve(_ count: Int, limit: Int) -> Bool {
        guard bytes.add(count, ordering: .relaxed).newValue > limit else { return true }
        release(count)
        return false
    }

    fileprivate func release(_ count: Int) {
        bytes.subtract(count, ordering: .relaxed)
    }
}

/// Bytes in memory, counted by a ``MemoryBudget`` while anybody holds them.
final class StoredBytes: Sendable {
    let bytes: [UInt8]
    fileprivate let budget: MemoryBudget

    /// - Returns: `nil` where the budget has no room.
    init?(_ parts: [[UInt8]], budget: MemoryBudget, limit: Int) {
        let count = parts.reduce(0) { $0 + $1.count }
        guard budget.reserve(count, limit: limit) else { return nil }
        self.budget = budget
        // An array that grew by appending has up to twice the capacity it needs.
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            for part in parts {
                part.withUnsafeBufferPointer { part in
                    _ = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
                        .update(fromContentsOf: part)
                }
                filled += part.count
            }
        }
    }

    deinit { budget.release(bytes.count) }
}

/// The bytes of a message and what was read from them once. Recipients share it.
public final class MailContent: Sendable {
    public var bytes: [UInt8] { stored.bytes }
    public let summary: MessageSummary
    let stored: StoredBytes

    /// - Returns: `nil` where the budget has no room for one more message.
    init?(_ stored: StoredBytes, summary: MessageSummary, limit: Int) {
        guard stored.budget.reserveMessage(limit: limit) else { return nil }
        self.stored = stored
        self.summary = summary
    }

    deinit { stored.budget.releaseMessage() }
}
