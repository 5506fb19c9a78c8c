import AuthCore
import Testing

/// When the keys of one use sign, which follows from the stored keys alone.
@Suite struct KeyScheduleTests {
    private func key(
        _ id: String, _ use: KeyUse = .capability, created: Int64, retired: Int64? = nil
    ) -> SealedKey {
        SealedKey(
            id: id, use: use, sealed: [], created: Instant(seconds: created),
            retired: retired.map { Instant(seconds: $0) })
    }

    private func states(
        _ keys: [SealedKey], at second: Int64
    ) throws -> [KeySchedule.State] {
        let schedule = try #require(KeySchedule(of: keys[0].use, in: keys))
        return keys.map { schedule.state(of: $0, at: Instant(seconds: second)) }
    }

    @Test func theFirstKeySignsAtOnce() throws {
        #expect(try states([key("a", created: 1000)], at: 1000) == [.signs(until: nil)])
    }

    @Test func aPublishedKeySignsAfterSixMinutesAndTheOldOneUntilThen() throws {
        let keys = [key("new", created: 1000), key("old", created: 1, retired: 1600)]
        let from = Instant(seconds: 1360)
        #expect(
            try states(keys, at: 1359) == [.published(signsFrom: from), .signs(until: from)])
        #expect(
            try states(keys, at: 1360)
                == [.signs(until: nil), .verifies(until: Instant(seconds: 1600))])
        #expect(try states(keys, at: 1600) == [.signs(until: nil), .ended])
    }

    /// A key that was made to sign later is stored with a later time of creation.
    @Test func aKeyOfServersAloneSignsWhenItWasMade() throws {
        let keys = [
            key("new", .agent, created: 1000), key("old", .agent, created: 1, retired: 1600),
        ]
        let from = Instant(seconds: 1000)
        #expect(try states(keys, at: 999) == [.published(signsFrom: from), .signs(until: from)])
        #expect(try states(keys, at: 1000)[0] == .signs(until: nil))
    }

    @Test func afterALeakTheNewKeySignsAtOnceAndNoOlderOneVerifies() throws {
        // The key that had not signed yet was to be used from the second 5000.
        let keys = [
            key("pending", created: 4640, retired: 1000), key("new", created: 1000),
            key("old", created: 1, retired: 1000),
        ]
        #expect(try states(keys, at: 1000) == [.ended, .signs(until: nil), .ended])
    }

    @Test func keysOfOtherUsesAreLeftOut() throws {
        let keys = [key("a", .agent, created: 5), key("b", .login, created: 9, retired: 20)]
        #expect(KeySchedule(of: .login, in: keys)?.signsFrom == nil)
        #expect(
            KeySchedule(of: .agent, in: keys)?.signer(at: Instant(seconds: 6)) == "a")
    }
}
