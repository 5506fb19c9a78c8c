import AuthStorage
import Cryptography
import Synchronization
import TestPrimitives
import TestSupport
import Testing

@testable import AuthCore

struct KeyRingTests {
    private let store: any SigningKeyStore
    private let clock = TestClock()
    private let keyPairs = TestKeyPairs()

    init() throws {
        store = try Database.openInMemory().signingKeys
    }

    @Test func serversThatStartTogetherShareTheirKeys() async throws {
        let rings = try (0..<4).map { try ring(seed: UInt64($0 + 10)) }
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for ring in rings {
                group.addTask {
                    try await ring.start()
                    return try await ring.signingKey(for: .capability, at: clock.now).id
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try await store.keys().filter { $0.retired == nil }.count == KeyUse.allCases.count)
    }

    @Test func aKeyThatIsNotGeneratedAtTheStartIsWhenItIsUsed() async throws {
        let ring = try ring(seed: 1)
        try await ring.start(generatesMissing: false)
        _ = try await ring.signingKey(for: .accounts, at: clock.now)
        #expect(try await store.keys().map(\.use) == [.accounts])
    }

    @Test func aRestartReadsTheStoredKeys() async throws {
        let before = try await ring(seed: 1).signingKey(for: .agent, at: clock.now).id
        let after = try await ring(seed: 2).signingKey(for: .agent, at: clock.now).id
        #expect(before == after)
    }

    @Test func startingWithAnotherMasterSecretFails() async throws {
        _ = try await ring(seed: 1).signingKey(for: .agent, at: clock.now)
        let other = try ring(seed: 2, secret: [UInt8](repeating: 9, count: 32))
        await #expect(throws: UnreadableKey.self) { try await other.start() }
    }

    @Test func aSealedKeyOpensOnlyUnderItsOwnIDAndUse() throws {
        let random = SeededBytes(seed: 5)
        let sealer = try KeySealer(masterSecret: AgentWorld.masterSecret, random: random.make)
        let sealed = try sealer.seal([1, 2, 3], id: "a", use: .agent)
        func open(_ id: String, _ use: KeyUse) throws -> [UInt8] {
            try sealer.open(
                SealedKey(id: id, use: use, sealed: sealed, created: Instant(seconds: 0)))
        }
        #expect(try open("a", .agent) == [1, 2, 3])
        #expect(throws: UnreadableKey.self) { try open("b", .agent) }
        #expect(throws: UnreadableKey.self) { try open("a", .capability) }
    }

    @Test func aNewKeyIsPublishedBeforeItSignsAndTheOldOneStaysPublished() async throws {
        let ring = try ring(seed: 1)
        let old = try await ring.signingKey(for: .capability, at: clock.now).id
        let new = try await ring.rotate(.capability, grace: .seconds(300)).id
        #expect(try await published(ring) == [new, old])
        #expect(try await ring.signingKey(for: .capability, at: clock.now).id == old)
        clock.advance(by: KeyUse.capability.publicationLead)
        #expect(try await ring.signingKey(for: .capability, at: clock.now).id == new)
        #expect(try await published(ring) == [new, old])
        clock.advance(by: .seconds(300))
        #expect(try await published(ring) == [new])
        #expect(try await ring.verificationKey(id: old, for: .capability, at: clock.now) == nil)
    }

    @Test func aKeyRetiredWithoutGraceIsInvalidAtOnce() async throws {
        let ring = try ring(seed: 1)
        _ = try await ring.signingKey(for: .capability, at: clock.now)
        let new = try await ring.rotate(.capability, grace: .zero).id
        #expect(try await ring.signingKey(for: .capability, at: clock.now).id == new)
        #expect(try await published(ring) == [new])
    }

    @Test func aKeyThatIsNotPublishedSignsAtOnce() async throws {
        let ring = try ring(seed: 1)
        let old = try await ring.signingKey(for: .agent, at: clock.now).id
        let new = try await ring.rotate(.agent, grace: .seconds(300)).id
        #expect(try await ring.signingKey(for: .agent, at: clock.now).id == new)
        #expect(try await ring.verificationKey(id: old, for: .agent, at: clock.now) != nil)
        clock.advance(by: .seconds(300))
        #expect(try await ring.verificationKey(id: old, for: .agent, at: clock.now) == nil)
    }

    @Test func aKeyOfAnotherServerIsFoundByItsID() async throws {
        let here = try ring(seed: 1)
        let there = try ring(seed: 2)
        _ = try await here.signingKey(for: .agent, at: clock.now)
        _ = try await there.signingKey(for: .agent, at: clock.now)
        let new = try await there.rotate(.agent, grace: .seconds(60)).id
        #expect(try await here.verificationKey(id: new, for: .agent, at: clock.now) == nil)
        clock.advance(by: .seconds(6))
        #expect(try await here.verificationKey(id: new, for: .agent, at: clock.now)?.id == new)
    }

    @Test func unknownKeyIDsAreLookedUpAtMostOncePerInterval() async throws {
        let counting = FailingKeys(store)
        let ring = try ring(seed: 1, store: counting)
        _ = try await ring.signingKey(for: .agent, at: clock.now)
        clock.advance(by: .seconds(60))
        let before = counting.reads
        for number in 0..<100 {
            _ = try await ring.verificationKey(id: "made-up-\(number)", for: .agent, at: clock.now)
        }
        #expect(counting.reads == before + 1)
    }

    @Test func afterTheClockWasSetBackUnknownKeyIDsAreStillLookedUp() async throws {
        let counting = FailingKeys(store)
        let ring = try ring(seed: 1, store: counting)
        _ = try await ring.signingKey(for: .agent, at: clock.now)
        clock.stepBack(by: .seconds(3600))
        let before = counting.reads
        _ = try await ring.verificationKey(id: "made-up", for: .agent, at: clock.now)
        #expect(counting.reads == before + 1)
    }

    /// A read that began before the rotation ends after another one that has seen it.
    @Test func aReadThatIsOvertakenDoesNotBringBackALeakedKey() async throws {
        let slow = SlowKeys(store)
        let ring = try ring(seed: 1, store: slow)
        let old = try await ring.signingKey(for: .agent, at: clock.now).id
        let late = slow.delayNextRead()
        let overtaken = Task { try await ring.refresh() }
        await late.began.wait()
        let other = try self.ring(seed: 2)
        _ = try await other.rotate(.agent, grace: .zero)
        try await ring.refresh()
        #expect(try await ring.verificationKey(id: old, for: .agent, at: clock.now) == nil)
        late.ends.open()
        try await overtaken.value
        #expect(try await ring.verificationKey(id: old, for: .agent, at: clock.now) == nil)
    }

    @Test func aRunningRingGoesOnAfterAResealAndTakesTheNewSecretWhenItIsThere() async throws {
        let random = SeededBytes(seed: 9)
        let newSecret = [UInt8](repeating: 3, count: 32)
        let old = try KeySealer(masterSecret: AgentWorld.masterSecret, random: random.make)
        let new = try KeySealer(masterSecret: newSecret, random: random.make)
        let file = Mutex(old)
        let clock = self.clock
        let ring = KeyRing(
            store: store, sealer: old, rereadSealer: { file.withLock { $0 } }, pool: .forTests(),
            random: random.make, keyPair: keyPairs.next,
            clock: { clock.now })
        let id = try await ring.signingKey(for: .agent, at: clock.now).id
        _ = try await ring.signingKey(for: .capability, at: clock.now)
        #expect(try await new.resealAll(in: store, from: old, at: clock.now) >= 2)
        await #expect(throws: UnreadableKey.self) {
            _ = try await new.resealAll(in: store, from: old, at: clock.now)
        }

        await #expect(throws: UnreadableKey.self) { try await ring.refresh() }
        #expect(try await ring.signingKey(for: .agent, at: clock.now).id == id)
        file.withLock { $0 = new }
        try await ring.refresh()
        let rotated = try await ring.rotate(.agent, grace: .seconds(60)).id
        let restarted = try self.ring(seed: 2, secret: newSecret)
        #expect(try await restarted.signingKey(for: .agent, at: clock.now).id == rotated)
        #expect(
            try await restarted.verificationKey(id: id, for: .agent, at: clock.now)?.id == id)
    }

    /// Otherwise neither secret would open all keys.
    @Test func aServerStoresNoKeyUnderASecretThatHasBeenReplaced() async throws {
        let random = SeededBytes(seed: 9)
        let ring = try ring(seed: 1)
        _ = try await ring.signingKey(for: .agent, at: clock.now)
        let old = try KeySealer(masterSecret: AgentWorld.masterSecret, random: random.make)
        let new = try KeySealer(
            masterSecret: [UInt8](repeating: 3, count: 32), random: random.make)
        #expect(try await new.resealAll(in: store, from: old, at: clock.now) == 1)
        await #expect(throws: UnreadableKey.self) {
            _ = try await ring.signingKey(for: .accounts, at: clock.now)
        }
        await #expect(throws: UnreadableKey.self) {
            _ = try await ring.rotate(.agent, grace: .zero)
        }
        #expect(try await store.keys().count == 1)
        #expect(try await new.resealAll(in: store, from: new, at: clock.now) == 1)
    }

    @Test func aFailedReadIsTriedAgain() async throws {
        let failing = FailingKeys(store, StoreBusy())
        let ring = try ring(seed: 1, store: failing)
        await #expect(throws: StoreBusy.self) {
            try await ring.signingKey(for: .agent, at: clock.now)
        }
        failing.error = nil
        let key = try await ring.signingKey(for: .agent, at: clock.now)
        #expect(try await store.keys().contains { $0.id == key.id })
    }

    /// Signing keys of which one read can be held up after it has read.
    private final class SlowKeys: SigningKeyStore {
        private let inner: any SigningKeyStore
        private let delay = Mutex<(began: Latch, ends: Latch)?>(nil)

        init(_ inner: any SigningKeyStore) { self.inner = inner }

        func delayNextRead() -> (began: Latch, ends: Latch) {
            let latches = (began: Latch(), ends: Latch())
            delay.withLock { $0 = latches }
            return latches
        }

        func keys() async throws -> [SealedKey] {
            let delay = delay.withLock { delay in
                defer { delay = nil }
                return delay
            }
            let keys = try await inner.keys()
            if let delay {
                delay.began.open()
                await delay.ends.wait()
            }
            return keys
        }

        func changeCount() async throws -> Int64 { try await inner.changeCount() }

        func insertFirst(_ key: SealedKey) async throws -> Bool {
            try await inner.insertFirst(key)
        }

        func rotate(
            to key: SealedKey, replacing replaced: ReplacedKeys, retiring: Instant,
            recording event: AuditEvent
        ) async throws -> Bool {
            try await inner.rotate(
                to: key, replacing: replaced, retiring: retiring, recording: event)
        }

        func removeRetired(before instant: Instant) async throws -> Int {
            try await inner.removeRetired(before: instant)
        }

        func reseal(
            recording event: AuditEvent,
            secrets: @escaping @Sendable (SealedSecret, _ sealed: [UInt8]) throws -> [UInt8],
            _ seal: @escaping @Sendable (SealedKey) throws -> [UInt8]
        ) async throws -> Int {
            try await inner.reseal(recording: event, secrets: secrets, seal)
        }
    }

    private func published(_ ring: KeyRing) async throws -> [String] {
        try await ring.published(.capability, at: clock.now).map(\.id)
    }

    private func ring(
        seed: UInt64, secret: [UInt8] = AgentWorld.masterSecret,
        store: (any SigningKeyStore)? = nil
    ) throws -> KeyRing {
        let random = SeededBytes(seed: seed)
        let clock = self.clock
        return try KeyRing(
            store: store ?? self.store,
            sealer: KeySealer(masterSecret: secret, random: random.make),
            pool: .forTests(), random: random.make, keyPair: keyPairs.next,
            clock: { clock.now })
    }
}
