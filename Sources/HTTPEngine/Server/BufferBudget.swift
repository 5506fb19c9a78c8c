internal import Synchronization

/// How many octets of requests and answers all connections may hold together, over all loops.
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
    func take(_ octets: Int) -> Bool {
        guard taken.add(octets, ordering: .relaxed).newValue <= most else {
            give(octets)
            return false
        }
        return true
    }

    func give(_ octets: Int) {
        taken.subtract(octets, ordering: .relaxed)
    }

    var held: Int { taken.load(ordering: .relaxed) }
}
