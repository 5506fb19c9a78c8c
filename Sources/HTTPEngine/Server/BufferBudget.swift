internal import Synchronization

/// How many bytes of requests and answers all connections may hold together, over all loops.
///
/// Promises: nobody is let hold more than `most`, so that clients who stop in the middle of a body,
/// or never read what they have asked for, cost a known amount of memory however many they are.
final class BufferBudget: Sendable {
    private let most: Int
    private let taken = Atomic<Int>(0)

    init(most: Int) {
        self.most = most
    }

    /// - Returns: false when there is no room for so many; then none are taken.
    func take(_ bytes: Int) -> Bool {
        guard taken.add(bytes, ordering: .relaxed).newValue <= most else {
            give(bytes)
            return false
        }
        return true
    }

    func give(_ bytes: Int) {
        taken.subtract(bytes, ordering: .relaxed)
    }

    var held: Int { taken.load(ordering: .relaxed) }
}
