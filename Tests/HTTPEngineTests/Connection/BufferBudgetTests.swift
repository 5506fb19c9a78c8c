import Testing

@testable import HTTPEngine

@Suite struct BufferBudgetTests {
    @Test func noMoreThanTheLimitIsGranted() {
        let budget = BufferBudget(limit: 10)
        #expect(budget.acquire(6))
        #expect(!budget.acquire(5))
        #expect(budget.grantedBytes == 6)
        #expect(budget.acquire(4))
        #expect(!budget.acquire(1))
    }

    @Test func releasedBytesCanBeAcquiredAgain() {
        let budget = BufferBudget(limit: 10)
        #expect(budget.acquire(10))
        budget.release(3)
        #expect(!budget.acquire(4))
        #expect(budget.acquire(3))
    }

    @Test func aConnectionIsChargedBeyondItsFreeBytes() {
        let budget = BufferBudget(limit: 10)
        var charge = BufferCharge(budget: budget)
        let free = BufferCharge.freeBytes
        // Rejected because the budget is too small. The earlier charge stays.
        let steps = [(free, 0), (free + 10, 10), (free + 11, 10), (0, 0)].map { held, granted in
            (charge.update(heldBytes: held), budget.grantedBytes == granted)
        }
        #expect(steps.map(\.0) == [true, true, false, true])
        #expect(!steps.map(\.1).contains(false))
    }
}
