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
        #expect(charge.update(heldBytes: BufferCharge.freeBytes))
        #expect(budget.grantedBytes == 0)
        #expect(charge.update(heldBytes: BufferCharge.freeBytes + 10))
        #expect(budget.grantedBytes == 10)
        // Refused: what was charged before stays charged.
        #expect(!charge.update(heldBytes: BufferCharge.freeBytes + 11))
        #expect(budget.grantedBytes == 10)
        #expect(charge.update(heldBytes: 0))
        #expect(budget.grantedBytes == 0)
    }
}
