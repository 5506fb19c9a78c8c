import Cryptography
import Synchronization
import TestSupport
import Testing

@testable import AuthCore

struct PasswordHasherTests {
    private static let low = PasswordHasher.Settings(memoryKiB: 32, iterations: 1, parallelism: 1)
    private let secret = PasswordSecret.bytes(Array("correct horse".utf8))
    private let wrong = PasswordSecret.bytes(Array("battery staple".utf8))

    private func hasher(
        _ settings: PasswordHasher.Settings = low, workers: any Workers = InlineWorkers()
    ) -> PasswordHasher {
        PasswordHasher(settings: settings, workers: workers, random: SeededBytes(seed: 3).make)
    }

    @Test func theSecretMatchesItsHashAndNoOther() async throws {
        let hash = try await hasher().hash(secret)
        #expect(hash.encoded.hasPrefix("$argon2id$v=19$m=32,t=1,p=1$"))
        #expect(hash.encoded.utf8.count <= PasswordHash.maximumOctets)
        #expect(try await hasher().verify(secret, against: hash) == .matches)
        #expect(try await hasher().verify(wrong, against: hash) == .wrong)
    }

    @Test func equalSecretsHaveDifferentHashes() async throws {
        let hasher = hasher()
        #expect(try await hasher.hash(secret) != hasher.hash(secret))
    }

    @Test func theDefaultIsTheContracts() async throws {
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
    func emptyLongAndZeroBytesAreToldApart(password: [UInt8]) async throws {
        let hash = try await hasher().hash(.bytes(password))
        #expect(try await hasher().verify(.bytes(password), against: hash) == .matches)
        #expect(try await hasher().verify(.bytes(password + [0]), against: hash) == .wrong)
        #expect(try await hasher().verify(.bytes(password + [1]), against: hash) == .wrong)
    }

    @Test func aMissingAccountIsWrong() async throws {
        #expect(try await hasher().verify(secret, against: nil) == .wrong)
    }

    @Test(arguments: [
        PasswordHasher.Settings(memoryKiB: 64, iterations: 1, parallelism: 1),
        PasswordHasher.Settings(memoryKiB: 32, iterations: 2, parallelism: 1),
        PasswordHasher.Settings(memoryKiB: 32, iterations: 1, parallelism: 2),
    ])
    func aHashBelowTheSettingsIsReplacedWhenItsSecretComes(
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

    @Test func aHashAboveTheSettingsStays() async throws {
        let raised = PasswordHasher.Settings(memoryKiB: 64, iterations: 2, parallelism: 1)
        let old = try await hasher(raised).hash(secret)
        #expect(try await hasher().verify(secret, against: old) == .matches)
    }

    @Test(arguments: ["", "x", "$argon2id$v=19$m=32,t=1,p=1$c29tZXNhbHQ$", "$2b$10$abc"])
    func aDamagedHashIsOurFaultAndNotAWrongPassword(encoded: String) async throws {
        await #expect(throws: PasswordHasher.UnreadableHash.self) {
            try await hasher().verify(secret, against: PasswordHash(encoded: encoded))
        }
    }

    @Test func aFullPoolRefusesBeforeAnythingIsDone() async throws {
        let hash = try await hasher().hash(secret)
        let full = hasher(workers: FullWorkers())
        let busy = Refusal.busy(retryAfter: .seconds(1))
        await #expect(throws: busy) { try await full.hash(secret) }
        await #expect(throws: busy) { try await full.verify(secret, against: hash) }
        await #expect(throws: busy) { try await full.verify(secret, against: nil) }
    }

    @Test func eachCallIsOneJob() async throws {
        let workers = CountingWorkers()
        let hasher = hasher(
            .init(memoryKiB: 64, iterations: 1, parallelism: 1), workers: workers)
        let old = try await self.hasher().hash(secret)
        let address = try #require(Address(parsing: "a@mail.test"))
        let calls: [() async throws -> Void] = [
            { _ = try await hasher.hash(.mailbox(password: [1], address: address)) },
            { _ = try await hasher.verify(secret, against: old) },
            { _ = try await hasher.verify(wrong, against: old) },
            { _ = try await hasher.verify(wrong, against: nil) },
        ]
        for (index, call) in calls.enumerated() {
            try await call()
            #expect(workers.jobs.withLock { $0 } == index + 1)
        }
    }

    /// What the wall clock of one run says is noise; the least of several is not.
    @Test func unknownAccountWrongPasswordAndOlderHashCostAlike() async throws {
        let now = PasswordHasher.Settings(memoryKiB: 8192, iterations: 2, parallelism: 1)
        let older = PasswordHasher.Settings(memoryKiB: 4096, iterations: 1, parallelism: 1)
        let hasher = hasher(now)
        let current = try await hasher.hash(secret)
        let outdated = try await self.hasher(older).hash(secret)
        var least = [Duration](repeating: .seconds(60), count: 3)
        for _ in 0..<12 {
            for (index, hash) in [nil, current, outdated].enumerated() {
                let time = try await ContinuousClock().measure {
                    _ = try await hasher.verify(wrong, against: hash)
                }
                least[index] = min(least[index], time)
            }
        }
        #expect(least[1] / least[0] > 0.7 && least[1] / least[0] < 1.4)
        #expect(least[2] / least[0] > 0.6 && least[2] / least[0] < 1.6)
    }
}

/// Counts the jobs that run.
private final class CountingWorkers: Workers {
    let jobs = Mutex(0)

    func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        try await body(Place(workers: self))
    }

    private struct Place: WorkPlace {
        let workers: CountingWorkers

        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            workers.jobs.withLock { $0 += 1 }
            return try work()
        }
    }
}
