import Cryptography
import Networking
import Scheduling
import TestSupport
import Testing

@testable import AuthCore

struct PasswordHasherTests {
    private static let low = PasswordHasher.Settings(memoryKiB: 32, iterations: 1, parallelism: 1)
    private static let raised = PasswordHasher.Settings(
        memoryKiB: 64, iterations: 1, parallelism: 1)
    /// Twice the memory that Argon2 is ever given, so a computation at this cost throws.
    private static let uncomputable = PasswordHasher.Settings(
        memoryKiB: 2 * Argon2.memoryKiB.upperBound, iterations: 1, parallelism: 1)
    private let secret = PasswordSecret.bytes(Array("correct horse".utf8))
    private let wrong = PasswordSecret.bytes(Array("battery staple".utf8))

    private func hasher(
        _ settings: PasswordHasher.Settings = low, pool: WorkerPool = .forTests()
    ) -> PasswordHasher {
        PasswordHasher(settings: settings, pool: pool, random: SeededBytes(seed: 3).make)
    }

    @Test func theSecretMatchesItsHashAndNoOther() async throws {
        let hash = try await hasher().hash(secret)
        #expect(hash.encoded.hasPrefix("$argon2id$v=19$m=32,t=1,p=1$"))
        #expect(hash.encoded.utf8.count <= Argon2Hash.maximumBytes)
        #expect(try await hasher().verify(secret, against: hash) == .matches)
        #expect(try await hasher().verify(wrong, against: hash) == .wrong)
    }

    @Test func equalSecretsHaveDifferentHashes() async throws {
        let hasher = hasher()
        #expect(try await hasher.hash(secret) != hasher.hash(secret))
    }

    @Test func theDefaultCostIsTheDocumentedOne() async throws {
        let hash = try await hasher(PasswordHasher.Settings()).hash(secret)
        #expect(hash.encoded.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
    }

    @Test func passwordAndAuthKeyAreOneCredential() async throws {
        let address = try #require(Address(parsing: "alice@mail.td"))
        let password = PasswordSecret.mailbox(
            password: Array("password123".utf8), address: address)
        let key = try #require(
            Hex.decode("2d0b5b1cd63138ba6e5b13777000e55b5dcd8ab4286f16d2fdd3aae8948c6bcf".utf8))
        let byPassword = try await hasher().hash(password)
        let byKey = try await hasher().hash(.authKey(key))
        #expect(try await hasher().verify(.authKey(key), against: byPassword) == .matches)
        #expect(try await hasher().verify(password, against: byKey) == .matches)
    }

    @Test(arguments: [[], [0], [0, 0], [1, 0], [UInt8](repeating: 9, count: 1025)])
    func emptyAndLongSecretsAndNULBytesAreDistinguished(password: [UInt8]) async throws {
        let hash = try await hasher().hash(.bytes(password))
        #expect(try await hasher().verify(.bytes(password), against: hash) == .matches)
        #expect(try await hasher().verify(.bytes(password + [0]), against: hash) == .wrong)
        #expect(try await hasher().verify(.bytes(password + [1]), against: hash) == .wrong)
    }

    @Test func aMissingAccountIsAWrongSecret() async throws {
        #expect(try await hasher().verify(secret, against: nil) == .wrong)
    }

    @Test(arguments: [
        PasswordHasher.Settings(memoryKiB: 64, iterations: 1, parallelism: 1),
        PasswordHasher.Settings(memoryKiB: 32, iterations: 2, parallelism: 1),
        PasswordHasher.Settings(memoryKiB: 32, iterations: 1, parallelism: 2),
    ])
    func aHashCheaperThanTheSettingsIsReplacedWhenItsSecretIsVerified(
        raised: PasswordHasher.Settings
    ) async throws {
        let old = try await hasher().hash(secret)
        let verdict = try await hasher(raised).verify(secret, against: old)
        guard case .matchesButOutdated(let new) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(try await hasher(raised).verify(secret, against: new) == .matches)
        #expect(try await hasher(raised).verify(wrong, against: old) == .wrong)
    }

    @Test func aHashMoreExpensiveThanTheSettingsIsKept() async throws {
        let raised = PasswordHasher.Settings(memoryKiB: 64, iterations: 2, parallelism: 1)
        let old = try await hasher(raised).hash(secret)
        #expect(try await hasher().verify(secret, against: old) == .matches)
    }

    @Test(arguments: ["", "x", "$argon2id$v=19$m=32,t=1,p=1$c29tZXNhbHQ$", "$2b$10$abc"])
    func aDamagedHashIsAFailureAndNotAWrongPassword(encoded: String) async throws {
        await #expect(throws: PasswordHasher.UnreadableHash.self) {
            try await hasher().verify(secret, against: PasswordHash(encoded: encoded))
        }
    }

    @Test func aFullPoolRejectsBeforeAnythingIsDone() async throws {
        let hash = try await hasher().hash(secret)
        let held = HeldPool(isFull: true)
        let full = hasher(pool: held.pool)
        await #expect(throws: WorkerPool.Full.self) { try await full.hash(secret) }
        await #expect(throws: WorkerPool.Full.self) { try await full.verify(secret, against: hash) }
        await #expect(throws: WorkerPool.Full.self) { try await full.verify(secret, against: nil) }
        held.empty()
        #expect(try await full.verify(secret, against: hash) == .matches)
    }

    /// A second place would let a full pool reject a call that has begun.
    @Test func eachCallNeedsOnePlaceInThePool() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        let hasher = hasher(Self.raised, pool: pool)
        let old = try await self.hasher().hash(secret)
        let address = try #require(Address(parsing: "a@mail.test"))
        let hash = try await hasher.hash(.mailbox(password: [1], address: address))
        #expect(hash.encoded.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
        guard case .matchesButOutdated = try await hasher.verify(secret, against: old) else {
            Issue.record("not outdated")
            return
        }
        #expect(try await hasher.verify(wrong, against: old) == .wrong)
        #expect(try await hasher.verify(wrong, against: nil) == .wrong)
        #expect(pool.statistics.rejected == 0)
    }

    @Test func theRestOfACostIsWhatIsMissingFromIt() {
        let cost = PasswordHasher.Settings().cost
        let halves = cost.rest(after: .init(memoryKiB: 9728, iterations: 2, parallelism: 1))
        #expect(halves == .init(memoryKiB: 9728, iterations: 2, parallelism: 1))
        let quarter = cost.rest(after: .init(memoryKiB: 9728, iterations: 1, parallelism: 1))
        #expect(quarter == .init(memoryKiB: 14_592, iterations: 2, parallelism: 1))
        #expect(cost.rest(after: cost) == nil)
        #expect(cost.rest(after: .init(memoryKiB: 65_536, iterations: 64, parallelism: 1)) == nil)
        #expect(cost.rest(after: .init(memoryKiB: 19_450, iterations: 2, parallelism: 1)) == nil)
    }

    /// No time is measured. With settings that cannot be computed, a call throws when it computes
    /// at the cost of the settings.
    @Test func aMissingAccountAndAWrongSecretForACheaperHashCostAsMuchAsTheSettings() async throws {
        let old = try await hasher().hash(secret)
        let hasher = hasher(Self.uncomputable)
        await #expect(throws: CryptographyError.self) {
            try await hasher.verify(wrong, against: nil)
        }
        await #expect(throws: CryptographyError.self) {
            try await hasher.verify(wrong, against: old)
        }
        await #expect(throws: CryptographyError.self) {
            try await hasher.verify(secret, against: old)
        }
    }

    @Test func aHashAtOrAboveTheSettingsCostsNothingMore() async throws {
        // Two lanes need 16 KiB, so nothing can be computed with these settings.
        let settings = PasswordHasher.Settings(memoryKiB: 8, iterations: 1, parallelism: 2)
        let expensive = try await hasher(.init(memoryKiB: 16, iterations: 1, parallelism: 2))
            .hash(secret)
        let hasher = hasher(settings)
        await #expect(throws: CryptographyError.self) { try await hasher.hash(secret) }
        #expect(try await hasher.verify(wrong, against: expensive) == .wrong)
        #expect(try await hasher.verify(secret, against: expensive) == .matches)
    }
}

extension PasswordHasher {
    fileprivate func hash(_ secret: PasswordSecret) async throws -> PasswordHash {
        try await hash(secret, for: .loopback)
    }

    fileprivate func verify(
        _ secret: PasswordSecret, against hash: PasswordHash?
    ) async throws -> PasswordVerdict {
        try await verify(secret, against: hash, for: .loopback)
    }
}
