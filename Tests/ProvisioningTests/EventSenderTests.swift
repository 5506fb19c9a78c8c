import AuthCore
import TestPrimitives
import Testing

@testable import Provisioning

@Suite(.timeLimit(.minutes(10))) struct EventSenderTests {
    /// Otherwise each event would cost a transaction that takes one other.
    @Test func thePlacesOfEventsThatEndTogetherAreFilledTogether() async throws {
        let limits = Record<Int>()
        let (begun, ended) = (Level(), Level())
        let sender = EventSender<Int>(
            width: { _ in 4 },
            take: { _, limit in
                limits.add(limit)
                let call = limits.entries.count
                guard call > 1 else { return Array(0..<limit) }
                await ended.reaches(4)
                return call < 9 ? [call] : []
            },
            deliver: { _ in
                begun.raise()
                await begun.reaches(4)
                ended.raise()
            }, clock: { Instant(seconds: 0) })
        try await sender.run()
        #expect(limits.entries[0] == 4)
        // Seven events were taken after them, each by one call.
        #expect(limits.entries[1..<8].contains { $0 > 1 })
        #expect(ended.value == 4 + 7)
    }
}
