import Testing

@testable import AuthCore

struct RecentTableTests {
    private func at(_ seconds: Int64) -> ContinuousClock.Instant {
        ContinuousClock.Instant(milliseconds: (1_800_000_000 + seconds) * 1000)
    }

    @Test func entriesWrittenWithinAPeriodAreKept() {
        var table = TenSecondTable()
        for start in stride(from: Int64(0), through: 40, by: 3) {
            table.write(1, at: start)
            #expect(table.read(1, at: start + 9) == "\(start)")
            table.write(2, at: start + 10)
            #expect(table.read(2, at: start + 10) != nil)
        }
    }

    @Test func entriesNotWrittenForTwoPeriodsAreRemoved() {
        var table = TenSecondTable()
        table.write(1, at: 0)
        table.write(2, at: 9)
        #expect(table.read(1, at: 20) == nil)
        #expect(table.count == 0)
    }

    @Test func readingDoesNotKeepAnEntry() {
        var table = TenSecondTable()
        table.write(1, at: 0)
        #expect(table.read(1, at: 10) != nil)
        #expect(table.read(1, at: 20) == nil)
    }

    @Test func writingKeepsAnEntryAndCountsItOnce() {
        var table = TenSecondTable()
        for second in stride(from: Int64(0), through: 100, by: 9) {
            table.write(1, at: second)
            #expect(table.count == 1)
        }
        table[1] = nil
        #expect(table.count == 0 && table[1] == nil)
    }

    @Test func anEntryCanBeRemovedFromTheOldGeneration() {
        var table = TenSecondTable()
        table.write(1, at: 0)
        #expect(table.read(1, at: 10) != nil)
        table[1] = nil
        #expect(table[1] == nil && table.count == 0)
    }

    @Test func aFullTableDropsTheEntriesWrittenLongestAgo() {
        var table = RecentTable<Int, Int>(period: .seconds(10), capacity: 100)
        for key in 0..<10_000 {
            table.advance(to: at(0))
            table[key] = key
            table[0] = 0
            #expect(table.count <= 101)
        }
        #expect(table[0] == 0 && table[9999] == 9999 && table[1] == nil)
    }

    @Test func anEarlierTimeAfterALaterOneRemovesNothing() {
        var table = TenSecondTable()
        table.write(1, at: 1000)
        #expect(table.read(1, at: 0) != nil)
        #expect(table.read(1, at: 9) != nil)
        #expect(table.read(1, at: 30) == nil)
    }

    @Test func extremeTimesDoNotTrap() {
        var table = TenSecondTable()
        for edge in [Int64.min, .max, -1, 0, .max, .min] {
            table.advance(to: ContinuousClock.Instant(milliseconds: edge))
            table[1] = ""
            #expect(table[1] != nil)
        }
    }
}

/// A table with a period of ten seconds.
private struct TenSecondTable {
    private var table = RecentTable<Int, String>(period: .seconds(10))

    var count: Int { table.count }

    subscript(key: Int) -> String? {
        get { table[key] }
        set { table[key] = newValue }
    }

    mutating func advance(to now: ContinuousClock.Instant) { table.advance(to: now) }

    mutating func write(_ key: Int, at seconds: Int64) {
        advance(to: ContinuousClock.Instant(milliseconds: (1_800_000_000 + seconds) * 1000))
        table[key] = "\(seconds)"
    }

    mutating func read(_ key: Int, at seconds: Int64) -> String? {
        advance(to: ContinuousClock.Instant(milliseconds: (1_800_000_000 + seconds) * 1000))
        return table[key]
    }
}
