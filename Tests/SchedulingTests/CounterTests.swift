import Scheduling
import TestPrimitives
import Testing

struct CounterTests {
    private enum Kind: CaseIterable { case some, other }

    @Test func threadsAddToOneNumber() async {
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { counter.add() } } }
        }
        counter.add(5)
        #expect(counter.value == 8005)
    }

    @Test func eachCaseHasItsOwn() {
        let counters = Counters<Kind>()
        counters.add(.other)
        counters.add(.other, 2)
        #expect(counters.value(.some) == 0 && counters.value(.other) == 3)
    }
}
