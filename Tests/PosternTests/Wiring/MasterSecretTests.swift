import Cryptography
import Glibc
import Platform
import TestPrimitives
import Testing

@testable import postern

@Suite struct MasterSecretTests {
    private func fault(_ work: () throws -> Void) -> MasterSecretError.Cause? {
        do {
            try work()
            return nil
        } catch {
            return (error as? MasterSecretError)?.cause
        }
    }

    @Test func theFirstStartCreates32RandomBytesForTheOwnerOnly() throws {
        let scratch = Scratch()
        let secret = try MasterSecret.inDirectory(scratch.path)
        #expect(secret.count == 32)
        #expect(secret.bytes != [UInt8](repeating: 0, count: 32))
        #expect(scratch.names == ["master.secret"])
        #expect(Scratch.mode(of: "\(scratch.path)/master.secret") == 0o600)
    }

    @Test func theNextStartReadsTheSameSecret() throws {
        let scratch = Scratch()
        let first = try MasterSecret.inDirectory(scratch.path)
        #expect(try MasterSecret.inDirectory(scratch.path) == first)
    }

    @Test func theDirectoryIsCreatedForTheOwnerOnly() throws {
        let scratch = Scratch()
        let inner = "\(scratch.path)/a/b"
        _ = try MasterSecret.inDirectory(inner)
        #expect(Scratch.mode(of: inner) == 0o700)
        unlink("\(inner)/master.secret")
        rmdir(inner)
    }

    @Test func serversThatStartTogetherGetTheSameSecret() async throws {
        let scratch = Scratch()
        let path = scratch.path
        let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try MasterSecret.inDirectory(path).bytes } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(secrets.count == 1)
        #expect(scratch.names == ["master.secret"])
    }

    @Test(arguments: [0, 1, 31, 33, 63, 66, 4096]) func anyOtherLengthIsAnError(count: Int) {
        let scratch = Scratch()
        let path = scratch.write("master.secret", [UInt8](repeating: 7, count: count))
        #expect(fault { _ = try MasterSecret.read(path, isOurs: true) } == .length(count))
    }

    @Test func itMayBe64HexDigits() throws {
        let scratch = Scratch()
        let text = String(repeating: "0aF1", count: 16)
        let path = scratch.write("s", Array("\(text)\n".utf8))
        let secret = try MasterSecret.read(path, isOurs: true)
        #expect(secret.bytes == (0..<32).map { $0 % 2 == 0 ? 0x0a : 0xf1 })
        let wrong = scratch.write("w", Array(text.dropLast().utf8) + [UInt8(ascii: "g")])
        #expect(fault { _ = try MasterSecret.read(wrong, isOurs: true) } == .length(64))
    }

    @Test func ourFileMustBePrivateAMountedOneNeedNot() throws {
        let scratch = Scratch()
        let path = scratch.write("s", [UInt8](repeating: 7, count: 32), mode: 0o644)
        #expect(fault { _ = try MasterSecret.read(path, isOurs: true) } == .mode(0o644))
        #expect(try MasterSecret.read(path, isOurs: false).count == 32)
    }

    @Test(arguments: [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o444, true)])
    func aMountedSecretThatOthersCanReadIsReported(mode: Int, isReported: Bool) throws {
        let scratch = Scratch()
        let path = scratch.write("s", [UInt8](repeating: 7, count: 32), mode: mode_t(mode))
        #expect((MasterSecret.exposure(aboutMounted: path) != nil) == isReported)
        #expect(try MasterSecret.read(path, isOurs: false).count == 32)
    }

    @Test(arguments: [0o620, 0o602, 0o666])
    func aMountedSecretThatOthersCanReplaceIsAnError(mode: Int) {
        let scratch = Scratch()
        let path = scratch.write("s", [UInt8](repeating: 7, count: 32), mode: mode_t(mode))
        let cause = fault { _ = try MasterSecret.read(path, isOurs: false) }
        #expect(cause == .mode(UInt32(mode)))
    }

    @Test func aFileThatCannotBeCreatedIsAnError() {
        let cause = fault { _ = try MasterSecret.inDirectory("/proc/none") }
        #expect(cause == .notCreated(.missing))
    }

    @Test func aMissingMountedSecretIsNotCreated() {
        let scratch = Scratch()
        let path = "\(scratch.path)/none"
        #expect(fault { _ = try MasterSecret.read(path, isOurs: false) } == .mounted(.missing))
        #expect(scratch.names.isEmpty)
    }

    @Test func itsErrorsNameTheFileAndTheRemedy() {
        let text = MasterSecretError(path: "/d/master.secret", cause: .mode(0o644)).description
        #expect(text.contains("/d/master.secret"))
        #expect(text.contains("chmod 600"))
        let mounted = MasterSecretError(path: "/s", cause: .mounted(.missing)).description
        #expect(mounted.contains("\"/s\", which POSTERN_MASTER_SECRET_FILE names"))
        let unmade = MasterSecretError(path: "/d/s", cause: .notCreated(.system(EACCES)))
            .description
        #expect(unmade.contains("Permission denied") && unmade.contains("--data"))
    }
}
