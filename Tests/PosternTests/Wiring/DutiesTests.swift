import AuthCore
import AuthStorage
import Cryptography
import Logging
import Testing

@testable import postern

@Suite struct DutiesTests {
    private func duties(
        _ store: MemoryStore, retention: Duration = .zero, at now: Instant
    ) throws -> Duties {
        let clock: @Sendable () -> Instant = { now }
        let workers = Pools(cores: 1).signing
        let sealer = try KeySealer(
            masterSecret: [UInt8](repeating: 1, count: 32), random: RandomBytes.make)
        return Duties(
            ledger: store, signingKeys: store,
            keys: KeyRing(
                store: store, sealer: sealer, workers: workers, random: RandomBytes.make,
                clock: clock),
            audit: store, retention: retention,
            logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
    }

    @Test func aSweepForgetsEverythingThatHasRunOutAndNothingElse() async throws {
        let store = MemoryStore()
        for number in 0..<2500 {
            _ = try await store.spend("old \(number)", expiry: Instant(seconds: 10))
        }
        _ = try await store.spend("young", expiry: Instant(seconds: 30))
        let later = Instant(seconds: 20).advanced(by: Duties.clockDifference)
        try await duties(store, at: later).sweep()
        #expect(try await store.sweep(before: Instant(seconds: 20), limit: 10) == 0)
        #expect(try await store.sweep(before: Instant(seconds: 31), limit: 10) == 1)
    }

    @Test func noServerForgetsWhatAnotherWithASlowerClockWouldStillTake() async throws {
        let store = MemoryStore()
        _ = try await store.spend("spent", expiry: Instant(seconds: 100))
        // By this clock it has run out; by one 59 s behind it has not.
        try await duties(store, at: Instant(seconds: 158)).sweep()
        #expect(try await store.spend("spent", expiry: Instant(seconds: 100)) == false)
    }

    @Test func retiredKeysGoWhenTheyVerifyNoMore() async throws {
        let store = MemoryStore()
        let key = SealedKey(
            id: "k", use: .agent, sealed: [1], created: Instant(seconds: 1))
        let next = SealedKey(
            id: "n", use: .agent, sealed: [1], created: Instant(seconds: 2))
        _ = try await store.insertFirst(key)
        try await store.rotate(
            to: next, retiring: Instant(seconds: 10),
            recording: AuditEvent(
                .keyRotated, time: Instant(seconds: 0), actor: "operator", subject: ""))
        // The keys themselves are not ours to open here; what counts is what was removed first.
        try? await duties(store, at: Instant(seconds: 20)).refreshKeys()
        #expect(try await store.keys().map(\.id) == ["n"])
    }

    @Test func eventsGoOnceTheyAreOlderThanTheyAreToBeKept() async throws {
        let store = MemoryStore()
        for second in 1...2500 { try await store.append(event(at: Int64(second))) }
        try await duties(store, retention: .seconds(100), at: Instant(seconds: 2550)).trimRecord()
        let kept = try await store.events(after: nil, limit: 5000)
        #expect(kept.map(\.event.time.seconds) == Array(2450...2500))
    }

    @Test func withoutARetentionEventsAreKeptForEver() async throws {
        let store = MemoryStore()
        try await store.append(event(at: 1))
        try await duties(store, at: Instant(seconds: 4_000_000_000)).trimRecord()
        #expect(try await store.events(after: nil, limit: 10).count == 1)
    }

    private func event(at second: Int64) -> AuditEvent {
        AuditEvent(.loginFailed, time: Instant(seconds: second), actor: "a", subject: "b")
    }
}
