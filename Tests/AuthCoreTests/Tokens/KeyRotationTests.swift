import AuthStorage
import Cryptography
import TestSupport
import Testing

@testable import AuthCore

/// Planned rotations, rotations after a leak, and those by age.
@Suite struct KeyRotationTests {
    private let stores: Stores
    private let clock = TestClock()
    private let keyPairs = TestKeyPairs()
    private let grace = Duration.seconds(240)

    init() throws {
        stores = try Database.openInMemory()
    }

    private func ring(
        seed: UInt64, algorithm: SignatureAlgorithm = .rs256
    ) throws -> KeyRing {
        let random = SeededBytes(seed: seed)
        let clock = self.clock
        return try KeyRing(
            store: stores.signingKeys,
            sealer: KeySealer(masterSecret: AgentWorld.masterSecret, random: random.make),
            capabilityAlgorithm: algorithm, pool: .forTests(), random: random.make,
            keyPair: keyPairs.next, clock: { clock.now })
    }

    private func signer(_ ring: KeyRing, _ use: KeyUse = .capability) async throws -> String {
        try await ring.signingKey(for: use, at: clock.now).id
    }

    private func verifies(_ id: String, _ ring: KeyRing) async throws -> Bool {
        try await ring.verificationKeys(for: .capability, at: clock.now).contains { $0.id == id }
    }

    @Test func aKeyCanBePublishedLongBeforeItSigns() async throws {
        let ring = try ring(seed: 1)
        let old = try await signer(ring)
        let begin = clock.now
        let new = try await ring.rotate(.capability, grace: grace, in: .seconds(86_400))
        #expect(new.signsFrom == begin.advanced(by: .seconds(86_400)))
        // Another server knows the time from what is stored.
        let other = try self.ring(seed: 2)
        clock.advance(by: .seconds(86_399))
        for each in [ring, other] {
            #expect(try await signer(each) == old)
            #expect(try await verifies(new.id, each))
        }
        clock.advance(by: .seconds(1))
        for each in [ring, other] { #expect(try await signer(each) == new.id) }
        clock.advance(by: grace - .seconds(1))
        #expect(try await verifies(old, ring))
        clock.advance(by: .seconds(1))
        #expect(try await !verifies(old, ring))
    }

    @Test func aDelayIsNeverShorterThanTheTimeOfPublication() async throws {
        let ring = try ring(seed: 1)
        _ = try await signer(ring)
        let new = try await ring.rotate(.capability, grace: grace, in: .seconds(10))
        #expect(new.signsFrom == clock.now.advanced(by: KeyUse.capability.publicationLead))
    }

    @Test func aKeyOfServersAloneSignsAtOnceOrAfterItsDelay() async throws {
        let ring = try ring(seed: 1)
        let first = try await signer(ring, .agent)
        let second = try await ring.rotate(.agent, grace: grace)
        #expect(second.signsFrom == clock.now)
        #expect(try await signer(ring, .agent) == second.id)
        let third = try await ring.rotate(.agent, grace: grace, in: .seconds(600))
        clock.advance(by: .seconds(599))
        #expect(try await signer(ring, .agent) == second.id)
        clock.advance(by: .seconds(1))
        #expect(try await signer(ring, .agent) == third.id && third.id != first)
    }

    /// The key in between would sign at once, before verifiers had time to fetch it.
    @Test func whileANewKeyDoesNotSignThereIsNoSecondRotation() async throws {
        let ring = try ring(seed: 1)
        _ = try await signer(ring)
        let new = try await ring.rotate(.capability, grace: grace)
        await #expect(throws: RotationError.pending(id: new.id, signsFrom: new.signsFrom)) {
            _ = try await ring.rotate(.capability, grace: grace)
        }
        clock.advance(by: KeyUse.capability.publicationLead)
        #expect(try await ring.rotate(.capability, grace: grace).id != new.id)
    }

    /// Also the key that signed before one that does not sign yet, and that was retired already.
    @Test func afterALeakNoOlderKeyOfTheUseIsValid() async throws {
        let ring = try ring(seed: 1)
        let first = try await signer(ring)
        let login = try await signer(ring, .login)
        let second = try await ring.rotate(.capability, grace: grace)
        let third = try await ring.rotate(.capability, grace: .zero)
        #expect(third.signsFrom == clock.now)
        #expect(try await signer(ring) == third.id)
        for id in [first, second.id] { #expect(try await !verifies(id, ring)) }
        #expect(try await signer(ring, .login) == login)
    }

    @Test func aRotationWithoutAKeyMakesTheFirstOne() async throws {
        let ring = try ring(seed: 1)
        let new = try await ring.rotate(.agent, grace: grace)
        #expect(try await signer(ring, .agent) == new.id)
        #expect(try await stores.signingKeys.keys().count == 1)
    }

    @Test func ofServersThatRotateByAgeExactlyOneDoes() async throws {
        let rings = try (0..<4).map { try ring(seed: UInt64($0 + 1)) }
        for ring in rings { _ = try await signer(ring) }
        let age = Duration.seconds(90 * 86_400)
        #expect(
            try await rings[0].rotate(.capability, olderThan: age, grace: grace) == nil)
        clock.advance(by: age)
        let made = try await withThrowingTaskGroup(of: RotatedKey?.self) { group in
            for ring in rings {
                group.addTask {
                    try await ring.rotate(.capability, olderThan: age, grace: grace)
                }
            }
            return try await group.reduce(into: [RotatedKey]()) { made, key in
                if let key { made.append(key) }
            }
        }
        #expect(made.count == 1)
        #expect(try await stores.signingKeys.keys().count == 2)
        let events = try await stores.audit.events(after: nil, limit: 9).map(\.event)
        #expect(events.map(\.kind) == [.keyRotated])
        #expect(events.map(\.actor) == [.server] && events.map(\.subject) == made.map(\.id))
        // While the new key does not sign yet, and then until it has the same age.
        for wait in [Duration.zero, .seconds(360), age - .seconds(361)] {
            clock.advance(by: wait)
            #expect(
                try await rings[1].rotate(.capability, olderThan: age, grace: grace) == nil)
        }
        clock.advance(by: .seconds(1))
        #expect(try await rings[1].rotate(.capability, olderThan: age, grace: grace) != nil)
    }

    /// Also if keys are replaced more often than the time of publication.
    @Test func aKeyThatDoesNotSignYetIsNotReplacedByAge() async throws {
        let ring = try ring(seed: 1)
        _ = try await signer(ring)
        let new = try await ring.rotate(.capability, grace: grace)
        clock.advance(by: KeyUse.capability.publicationLead - .seconds(1))
        let age = Duration.seconds(60)
        #expect(try await ring.rotate(.capability, olderThan: age, grace: grace) == nil)
        clock.advance(by: .seconds(1))
        #expect(try await signer(ring) == new.id)
        #expect(try await ring.rotate(.capability, olderThan: age, grace: grace) != nil)
    }

    @Test func aChangedAlgorithmIsARotationOfCapabilityKeysAlone() async throws {
        let before = try ring(seed: 1)
        let old = try await signer(before)
        let login = try await signer(before, .login)
        for (seed, algorithm) in [(2, SignatureAlgorithm.es256), (3, .edDSA), (4, .rs256)] {
            clock.advance(by: .seconds(1))
            let after = try ring(seed: UInt64(seed), algorithm: algorithm)
            let old = try await signer(after)
            let new = try #require(try await after.changeAlgorithm(grace: grace))
            #expect(new.signsFrom == clock.now.advanced(by: KeyUse.capability.publicationLead))
            let published = try await after.published(.capability, at: clock.now)
            #expect(published.prefix(2).map(\.id) == [new.id, old])
            #expect(published.first?.algorithm == algorithm)
            #expect(try await signer(after) == old)
            clock.advance(by: KeyUse.capability.publicationLead)
            #expect(try await signer(after) == new.id)
            #expect(try await verifies(old, after))
            clock.advance(by: grace)
            #expect(try await !verifies(old, after))
            #expect(try await after.changeAlgorithm(grace: grace) == nil)
        }
        try await before.refresh()
        #expect(try await !verifies(old, before))
        #expect(try await signer(before, .login) == login)
        let events = try await stores.audit.events(after: nil, limit: 9).map(\.event)
        #expect(events.map(\.kind) == [.keyRotated, .keyRotated, .keyRotated])
        #expect(events.allSatisfy { $0.actor == .server })
    }

    @Test func whileANewKeyDoesNotSignTheAlgorithmIsNotChanged() async throws {
        let before = try ring(seed: 1)
        _ = try await signer(before)
        let new = try await before.rotate(.capability, grace: grace)
        let after = try ring(seed: 2, algorithm: .es256)
        await #expect(throws: RotationError.pending(id: new.id, signsFrom: new.signsFrom)) {
            _ = try await after.changeAlgorithm(grace: grace)
        }
        clock.advance(by: KeyUse.capability.publicationLead)
        #expect(try await after.changeAlgorithm(grace: grace) != nil)
    }

    @Test func ofServersThatChangeTheAlgorithmExactlyOneMakesAKey() async throws {
        _ = try await signer(try ring(seed: 9))
        let rings = try (0..<4).map { try ring(seed: UInt64($0 + 1), algorithm: .edDSA) }
        let made = await withTaskGroup(of: RotatedKey?.self) { group in
            for ring in rings {
                group.addTask { try? await ring.changeAlgorithm(grace: grace) }
            }
            return await group.reduce(into: [RotatedKey]()) { made, key in
                if let key { made.append(key) }
            }
        }
        #expect(made.count == 1)
        #expect(try await stores.signingKeys.keys().count == 2)
        for ring in rings { #expect(try await ring.changeAlgorithm(grace: grace) == nil) }
    }

    @Test func theFirstKeyAndEveryRotationHaveTheAlgorithmOfTheConfiguration() async throws {
        let ring = try ring(seed: 1, algorithm: .es256)
        _ = try await signer(ring)
        #expect(try await ring.changeAlgorithm(grace: grace) == nil)
        _ = try await ring.rotate(.capability, grace: .zero)
        #expect(
            try await ring.published(.capability, at: clock.now).map(\.algorithm) == [.es256])
        #expect(try await ring.published(.login, at: clock.now).map(\.algorithm) == [.rs256])
    }

    @Test func theSignersOfAllUsesAreKnown() async throws {
        let ring = try ring(seed: 1)
        #expect(ring.signers(at: clock.now).isEmpty)
        var expected: [KeyUse: String] = [:]
        for use in KeyUse.allCases { expected[use] = try await signer(ring, use) }
        #expect(ring.signers(at: clock.now) == expected)
    }
}
