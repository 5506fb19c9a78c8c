import Testing

@testable import AgentClient

@Suite struct ProgressDisplayTests {
    private let halfway = Progress(elapsed: .milliseconds(2050), tries: 41, expectedTries: 64)

    @Test func aWideLineHasAllParts() {
        #expect(
            halfway.render(width: 200)
                == "proof of work [#########...........]  41 of about 64 tries, 20.0/s, 2.0 s, "
                + "47 % likely by now, 3.2 s on average")
    }

    @Test func beforeTheFirstTryThereIsNoRate() {
        let start = Progress(elapsed: .zero, tries: 0, expectedTries: 64)
        #expect(
            start.render(width: 200)
                == "proof of work [....................]  0 of about 64 tries, 0.0 s")
    }

    @Test(arguments: 0...130) func noLineIsWiderThanTheTerminal(width: Int) {
        #expect(halfway.render(width: width).count <= width)
    }

    @Test func partsThatDoNotFitAreLeftOut() {
        #expect(halfway.render(width: 45) == "proof of work [#########...........]")
        #expect(halfway.render(width: 20) == "proof of work")
        #expect(halfway.render(width: 5) == "proof")
    }

    @Test func theBarIsNeverFullBeforeTheEnd() {
        let long = Progress(elapsed: .seconds(9), tries: 500, expectedTries: 64)
        #expect(long.likelihood < 1)
        #expect(long.render(width: 60).contains("#."))
    }

    @Test func afterTheExpectedTriesTwoThirdsHaveSucceeded() {
        let expected = Progress(elapsed: .seconds(1), tries: 64, expectedTries: 64)
        #expect(abs(expected.likelihood - 0.635) < 0.001)
    }

    @Test func noDifficultyDividesByZero() {
        let none = Progress(elapsed: .zero, tries: 1, expectedTries: 1)
        #expect(none.likelihood == 1)
        #expect(none.render(width: 100).contains("[####################]"))
    }

    @Test func longWaitsAreMinutesAndHours() {
        let slow = Progress(elapsed: .seconds(10), tries: 100, expectedTries: 1_048_576)
        #expect(slow.render(width: 200).hasSuffix("29.1 h on average"))
    }

    @Test func theConclusionHasTriesAndTime() {
        #expect(halfway.conclusion == "proof of work solved: 41 tries in 2.0 s")
    }
}
