internal import ArgumentParser
internal import AuthStorage
internal import Configuration
internal import Glibc
internal import Platform
internal import Scheduling

/// `postern backup`: copies the database while servers use it.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database to a file, while servers use it.",
        discussion: """
            The copy contains the database as it was when the command began. It is checked for \
            damage, and only its owner can read it (0600). An existing file is never overwritten. \
            The command does not migrate the database: run it before an upgrade.

            The master secret is NOT in the copy, and without it the signing keys in the copy \
            cannot be used. Keep a copy of the master secret in another place.

            Examples:
              postern backup /backup/postern-$(date +%F).db
              postern backup --data /var/lib/postern postern.backup
            """)

    @OptionGroup var options: ConfigOptions

    @Argument(help: "The file to create.", completion: .file()) var file: String

    func run() async throws {
        let config = try options.load().config
        let database = try config.databaseOnDisk()
        guard access(file, F_OK) != 0 else {
            Output.message("\(file) exists and is not overwritten; name another file")
            throw ExitCode.failure
        }
        let stopped = AtomicFlag()
        let signals = StopSignals()
        Task {
            _ = await signals.wait()
            stopped.set()
        }
        do {
            let bytes = try copy(database, until: stopped)
            Output.print(
                "backed up \(bytes) bytes to \(file); the master secret is not in it"
                    + " (\(MasterSecret.path(for: config)))")
        } catch StorageError.inaccessible(_, let code) {
            // The error names the temporary file, which the user does not know.
            Output.message("\(file) cannot be made: \(FileError.system(code))")
            throw ExitCode.failure
        } catch {
            Output.message("no backup was made: \(error)")
            throw Exit.code(for: error)
        }
    }

    /// - Returns: the size of the copy in bytes.
    private func copy(_ database: Database, until stopped: AtomicFlag) throws -> Int {
        var bytes = 0
        var line = StatusLine.onStandardError()
        defer { line.end() }
        try File.create(file) { temporary in
            try database.backUp(to: temporary) { progress in
                guard !stopped.isSet else { throw BackupError.stopped }
                bytes = progress.totalBytes
                line.show(Self.status(progress))
            }
        }
        return bytes
    }

    static func status(_ progress: BackupProgress) -> String {
        let percent =
            progress.totalBytes > 0 ? progress.copiedBytes * 100 / progress.totalBytes : 100
        let (copied, total) = (progress.copiedBytes >> 20, progress.totalBytes >> 20)
        return
            "\(copied) of \(total) MiB, \(percent) %"
            + (percent == 100 ? ", checking the copy" : "")
    }
}

/// Why a backup was not completed.
enum BackupError: Error, CustomStringConvertible {
    case stopped

    var description: String { "stopped by a signal" }
}
