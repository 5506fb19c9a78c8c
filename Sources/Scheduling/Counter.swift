internal import Synchronization

/// A number that every thread may add to and read, for metrics. Events of every request are counted
/// by the loops instead.
public final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    public init() {}

    public var value: Int { number.load(ordering: .relaxed) }

    public func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }
}

/// One ``Counter`` for each case of an enum.
public struct Counters<Case: CaseIterable & Hashable & Sendable>: Sendable {
    private let counters = Dictionary(
        uniqueKeysWithValues: Case.allCases.map { ($0, Counter()) })

    public init() {}

    public func add(_ counted: Case, _ amount: Int = 1) { self[counted].add(amount) }

    public func value(_ counted: Case) -> Int { self[counted].value }

    private subscript(_ counted: Case) -> Counter {
        guard let counter = counters[counted] else {
            preconditionFailure("every case is one of allCases")
        }
        return counter
    }
}
