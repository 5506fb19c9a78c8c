import Networking
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

    @Test func aSiteHasNoMoreThanItsShare() throws {
        let budget = BufferBudget(limit: 10, siteLimit: 5)
        let (first, second) = (
            try #require(IPAddress("192.0.2.1")).site, try #require(IPAddress("198.51.100.1")).site
        )
        #expect(budget.acquire(4, for: first))
        #expect(!budget.acquire(2, for: first))
        #expect(budget.grantedBytes == 4)
        #expect(budget.acquire(5, for: second))
        #expect(budget.acquire(1))
        #expect(!budget.acquire(1, for: first))
        budget.release(4, of: first)
        #expect(budget.acquire(4, for: first))
        #expect(!budget.acquire(1))
    }

    @Test func whatAConnectionHoldsIsOfItsSiteFromItsAssignmentOn() throws {
        let budget = BufferBudget(limit: 10, siteLimit: 5)
        let client = try #require(IPAddress("192.0.2.1"))
        let free = BufferCharge.freeBytes
        var charge = BufferCharge(budget: budget)
        let isUnassigned = charge.update(heldBytes: free + 6)
        charge.assign(client)
        #expect(isUnassigned && budget.grantedBytes == 0)
        let steps = [free + 6, free + 5].map { charge.update(heldBytes: $0) }
        #expect(steps == [false, true])
        #expect(!budget.acquire(1, for: client.site))
        let isReleased = charge.update(heldBytes: 0)
        #expect(isReleased && budget.acquire(5, for: client.site))
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
