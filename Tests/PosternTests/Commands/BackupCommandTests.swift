import ArgumentParser
import AuthStorage
import TestPrimitives
import Testing

@testable import Platform
@testable import postern

@Suite struct BackupCommandTests {
    private let scratch = Scratch()
    private var file: String { "\(scratch.path)/copy" }

    private func backup() async throws {
        let arguments = ["backup", file, "--data", scratch.path]
        var command = try #require(
            try Postern.parseAsRoot(arguments) as? any AsyncParsableCommand)
        try await command.run()
    }

    @Test func withoutADatabaseNothingIsCreated() async {
        await #expect(throws: Exit.misconfigured) { try await backup() }
        #expect(scratch.names.isEmpty)
    }

    @Test func aFileThatIsNoDatabaseIsNotCopied() async {
        _ = scratch.write("postern.db", Array("a letter".utf8))
        await #expect(throws: Exit.misconfigured) { try await backup() }
        #expect(scratch.names == ["postern.db"])
    }

    @Test func aFileThatExistsIsNotOverwritten() async throws {
        _ = try await Database.inDirectory(scratch.path).migrate(at: SystemClock.now())
        _ = scratch.write("copy", [1])
        await #expect(throws: ExitCode.failure) { try await backup() }
        #expect(try File.bytes(at: file, atMost: 10) == [1])
        #expect(scratch.names == ["copy", "postern.db"])
    }

    @Test func itsProgressIsInMebibytes() {
        #expect(
            BackupCommand.status(.init(copiedBytes: 3 << 20, totalBytes: 4 << 20))
                == "3 of 4 MiB, 75 %")
        #expect(
            BackupCommand.status(.init(copiedBytes: 4096, totalBytes: 4096))
                == "0 of 0 MiB, 100 %, checking the copy")
        #expect(BackupCommand.status(.init(copiedBytes: 0, totalBytes: 0)).hasPrefix("0 of 0 MiB"))
    }
}
