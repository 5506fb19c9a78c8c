import Testing

@testable import HTTPEngine

@Suite struct BufferBudgetTests {
    @Test func whatIsTakenIsNotThereForAnybodyElse() {
        let budget = BufferBudget(most: 10)
        #expect(budget.take(6))
        #expect(!budget.take(5))
        #expect(budget.held == 6)
        #expect(budget.take(4))
        #expect(!budget.take(1))
    }

    @Test func whatIsGivenBackIs() {
        let budget = BufferBudget(most: 10)
        #expect(budget.take(10))
        budget.give(3)
        #expect(!budget.take(4))
        #expect(budget.take(3))
    }
}
