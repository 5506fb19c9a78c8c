/// The number of values up to each of some bounds, and the sum of all, for metrics.
public struct Histogram: Equatable, Sendable {
    public enum Unit: Sendable {
        case nanoseconds, items
    }

    public let unit: Unit
    /// Ascending.
    public let bounds: [Int]
    /// The values up to each bound and above the one before it; the last count is of the values
    /// above all bounds.
    public private(set) var counts: [Int]
    public private(set) var sum = 0

    /// For times between 0.1 milliseconds and ten seconds.
    public static let durations = Histogram(
        unit: .nanoseconds,
        bounds: [
            100_000, 500_000, 1_000_000, 2_500_000, 10_000_000, 25_000_000, 100_000_000,
            250_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000,
        ])

    /// For sizes of batches.
    public static let sizes = Histogram(unit: .items, bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256])

    /// An empty histogram. Copies share the memory of their counts until they count something.
    public init(unit: Unit, bounds: [Int]) {
        self.unit = unit
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    public var count: Int { counts.reduce(0, &+) }

    public mutating func record(_ value: Int) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index] &+= 1
        sum &+= value
    }

    /// Adds the values of another histogram with the same bounds.
    public mutating func add(_ other: Histogram) {
        precondition(bounds == other.bounds)
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum &+= other.sum
    }
}
