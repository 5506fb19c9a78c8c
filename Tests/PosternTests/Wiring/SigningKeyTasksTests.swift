import AuthCore
import AuthStorage
import Cryptography
import Glibc
import Logging
import Synchronization
import TestPrimitives
import Testing

@testable import Configuration
@testable import Platform
@testable import postern

/// What is done with the signing keys at intervals.
@Suite struct SigningKeyTasksTests {
    /// A clock that a test moves.
    private final class Clock: Sendable {
        private let instant = Mutex(Instant(seconds: 1_800_000_000))

        var now: Instant { instant.withLock { $0 } }

        func advance(by duration: Duration) {
            instant.withLock { $0 = $0.advanced(by: duration) }
        }
    }

    private let scratch = Scratch()
    private let clock = Clock()
    private let stores: Stores
    private let keys: KeyRing
    private let reported = Record<String>()

    init() throws {
        stores = try Database.openInMemory()
        let clock = self.clock
        keys = try KeyRing(
            store: stores.signingKeys,
            sealer: KeySealer(
                masterSecret: [UInt8](repeating: 1, count: 32), random: RandomBytes.make),
            pool: Pools(cores: 1).signing, random: RandomBytes.make, clock: { clock.now })
    }

    private func ring(_ algorithm: SignatureAlgorithm) throws -> KeyRing {
        let clock = self.clock
        return try KeyRing(
            store: stores.signingKeys,
            sealer: KeySealer(
                masterSecret: [UInt8](repeating: 1, count: 32), random: RandomBytes.make),
            capabilityAlgorithm: algorithm, pool: Pools(cores: 1).signing,
            random: RandomBytes.make, clock: { clock.now })
    }

    private func tasks(
        rotateEvery: Duration = .zero, exporting layout: KeyLayout? = nil, of keys: KeyRing? = nil
    ) -> SigningKeyTasks {
        let keys = keys ?? self.keys
        let clock = self.clock
        let exporter = layout.map { layout in
            KeyExporter(
                KeyExport(use: .capability, layout: layout, namesKey: true),
                to: "\(scratch.path)/keys", keys: keys)
        }
        return SigningKeyTasks(
            store: stores.signingKeys, keys: keys, rotateEvery: rotateEvery,
            grace: { _ in .seconds(240) }, exporter: exporter,
            events: SecurityEvents { [reported] event, _ in
                reported.add("\(event.kind.rawValue) \(event.subject)")
            }, logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() },
            clock: { clock.now })
    }

    private func exported(_ name: String = "capability.pem") -> String? {
        try? File.text(at: "\(scratch.path)/keys/\(name)", atMost: 10_000)
    }

    private func signer() async throws -> PublishedKey {
        try #require(try await keys.publishedSigner(.capability, at: clock.now))
    }

    private func cleanUp(_ names: String...) {
        for name in names + [".postern/capability", ".postern"] {
            unlink("\(scratch.path)/keys/\(name)")
            rmdir("\(scratch.path)/keys/\(name)")
        }
    }

    @Test func retiredKeysAreRemovedAtTheirEnd() async throws {
        try await keys.start()
        _ = try await signer()
        _ = try await keys.rotate(.agent, grace: .seconds(10))
        let count = try await stores.signingKeys.keys().count
        clock.advance(by: .seconds(9))
        try await tasks().removeRetired()
        #expect(try await stores.signingKeys.keys().count == count)
        clock.advance(by: .seconds(2))
        try await tasks().removeRetired()
        #expect(try await stores.signingKeys.keys().count == count - 1)
    }

    @Test func theSwitchToAnotherKeyIsReportedOnceAndAtItsTime() async throws {
        let tasks = tasks()
        _ = try await signer()
        tasks.reportSigners()
        let new = try await keys.rotate(.capability, grace: .seconds(240))
        clock.advance(by: .seconds(359))
        tasks.reportSigners()
        #expect(reported.entries.isEmpty)
        clock.advance(by: .seconds(1))
        tasks.reportSigners()
        tasks.reportSigners()
        #expect(reported.entries == ["signing_key_changed capability \(new.id)"])
    }

    @Test func keysAreRotatedAtTheirAge() async throws {
        for use in KeyUse.allCases where use.isPublished {
            _ = try await keys.publishedSigner(use, at: clock.now)
        }
        clock.advance(by: .seconds(86_400))
        try await tasks().rotate()
        #expect(try await stores.signingKeys.keys().count == 2)
        try await tasks(rotateEvery: .seconds(86_401)).rotate()
        #expect(try await stores.signingKeys.keys().count == 2)
        try await tasks(rotateEvery: .seconds(86_400)).rotate()
        let stored = try await stores.signingKeys.keys()
        #expect(stored.count == 4)
        #expect(
            Set(stored.compactMap(\.retired))
                == [clock.now.advanced(by: .seconds(360 + 240))])
    }

    @Test func theAlgorithmIsChangedOnceAndAfterAPendingRotation() async throws {
        _ = try await signer()
        let new = try await keys.rotate(.capability, grace: .seconds(240))
        let changed = tasks(of: try ring(.es256))
        #expect(try await !changed.changeAlgorithm())
        clock.advance(by: new.signsFrom.since(clock.now))
        #expect(try await changed.changeAlgorithm())
        #expect(try await stores.signingKeys.keys().count == 3)
        #expect(try await changed.changeAlgorithm())
        #expect(try await stores.signingKeys.keys().count == 3)
        // A server with the old setting is started: it waits until the new key signs.
        #expect(try await !tasks().changeAlgorithm())
        #expect(try await stores.signingKeys.keys().count == 3)
    }

    @Test func aKeyThatTheMailStoreCannotUseIsLeftOutAndTheNextOneIsThereInTime() async throws {
        let before = try ring(.edDSA)
        _ = try await before.publishedSigner(.capability, at: clock.now)
        let tasks = tasks(exporting: .dovecot)
        try await tasks.export()
        let new = try #require(try await keys.changeAlgorithm(grace: .seconds(240)))
        let name = "default/RS256/\(new.id)"
        defer { cleanUp(name, "default/RS256", "default") }
        try await tasks.export()
        #expect(exported(name)?.contains("PUBLIC KEY") == true)
    }

    @Test func anExportFollowsTheKeyThatSigns() async throws {
        defer { cleanUp("capability.pem") }
        let tasks = tasks(exporting: .cyrus)
        try await tasks.export()
        let first = try await signer()
        #expect(exported() == first.pem)
        _ = try await keys.rotate(.capability, grace: .seconds(240))
        clock.advance(by: .seconds(359))
        try await tasks.export()
        #expect(exported() == first.pem)
        clock.advance(by: .seconds(1))
        try await tasks.export()
        #expect(try await exported() == signer().pem && exported() != first.pem)
    }

    @Test func anExportOfAllKeysHasANewKeyAtOnceAndAnOldOneToItsEnd() async throws {
        let first = try await signer()
        let tasks = tasks(exporting: .pem)
        try await tasks.export()
        let new = try await keys.rotate(.capability, grace: .seconds(240))
        defer { cleanUp("\(first.id).pem", "\(new.id).pem") }
        try await tasks.export()
        #expect(exported("\(first.id).pem") == first.pem)
        #expect(exported("\(new.id).pem") != nil)
        clock.advance(by: .seconds(600))
        try await tasks.export()
        #expect(exported("\(first.id).pem") == nil)
        #expect(try await exported("\(new.id).pem") == signer().pem)
    }

    @Test func anExportThatFailsIsTriedAgain() async throws {
        defer { cleanUp("capability.pem") }
        let path = "\(scratch.path)/keys"
        #expect(mkdir(path, 0o755) == 0)
        try File.create("\(path)/capability.pem", content: [1])
        let tasks = tasks(exporting: .cyrus)
        await #expect(throws: KeyDirectoryError.notOurs("\(path)/capability.pem")) {
            try await tasks.export()
        }
        #expect(unlink("\(path)/capability.pem") == 0)
        try await tasks.export()
        #expect(try await exported() == signer().pem)
    }
}
