import Cryptography
import Glibc
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
        #expect(hash.encoded.utf8.count <= Argon2Hash.maximumBytes)
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
        let workers = MeasuringWorkers()
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
            #expect(workers.jobs == index + 1)
        }
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

    /// By processor time, and the least of several runs: other work on the machine is no matter.
    @Test func unknownAccountWrongPasswordAndOlderHashCostAlike() async throws {
        let workers = MeasuringWorkers()
        let now = PasswordHasher.Settings(memoryKiB: 8192, iterations: 2, parallelism: 1)
        let older = PasswordHasher.Settings(memoryKiB: 4096, iterations: 1, parallelism: 1)
        let hasher = hasher(now, workers: workers)
        let current = try await hasher.hash(secret)
        let outdated = try await self.hasher(older).hash(secret)
        var least = [Double](repeating: .infinity, count: 3)
        for _ in 0..<10 {
            for (index, hash) in [nil, current, outdated].enumerated() {
                _ = try await hasher.verify(wrong, against: hash)
                least[index] = min(least[index], workers.last)
            }
        }
        #expect(least[1] / least[0] > 0.75 && least[1] / least[0] < 1.33)
        #expect(least[2] / least[0] > 0.6 && least[2] / least[0] < 1.6)
    }
}

/// Counts the jobs that run, and the processor time of the last.
private final class MeasuringWorkers: Workers {
    private let state = Mutex((jobs: 0, last: 0.0))

    var jobs: Int { state.withLock { $0.jobs } }
    var last: Double { state.withLock { $0.last } }

    func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        try await body(Place(workers: self))
    }

    private struct Place: WorkPlace {
        let workers: MeasuringWorkers

        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            let start = Self.seconds
            defer { workers.state.withLock { $0 = ($0.jobs + 1, Self.seconds - start) } }
            return try work()
        }

        private static var seconds: Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
}
