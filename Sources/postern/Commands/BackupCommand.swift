internal import ArgumentParser
internal import AuthStorage
internal import Glibc

/// `postern backup`: a copy of the database that servers may be using meanwhile.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database to a file, while servers use it.",
        discussion: """
            The copy holds the database as it was when the command began, has been looked \
            through and is readable by its owner only (0600). A file that exists is never \
            overwritten. Nothing is migrated, so this is what to run before an upgrade.

            The master secret is NOT in the copy, and without it the signing keys in the copy \
            cannot be opened. Keep a copy of the master secret in another place.

            Examples:
              postern backup /backup/postern-$(date +%F).db
              postern backup --data /var/lib/postern postern.backup
            """)

    @OptionGroup var options: ConfigOptions

    @Argument(help: "The file to make.") var file: String

    func run() async throws {
        let config = try options.load().config
        let database = try config.databaseOnDisk()
        guard access(file, F_OK) != 0 else {
            Output.complain("\(file) exists, and a backup overwrites nothing; name another file")
            throw ExitCode.failure
        }
        let stopped = Latch()
        let signals = StopSignals()
        Task {
            _ = await signals.wait()
            stopped.close()
        }
        do {
            let octets = try copy(database, until: stopped)
            Output.print(
                "backed up \(octets) bytes to \(file); the master secret is not in it"
                    + " (\(MasterSecret.place(for: config)))")
        } catch StorageError.inaccessible(_, let code) {
            // Of the name that the file has until it is whole, which nobody knows.
            Output.complain("\(file) cannot be made: \(FileFault.system(code))")
            throw ExitCode.failure
        } catch {
            Output.complain("there is no backup: \(error)")
            throw Exit.code(for: error)
        }
    }

    /// - Returns: how long the copy is.
    private func copy(_ database: Database, until stopped: Latch) throws -> Int {
        var octets = 0
        var line = StatusLine.onStandardError()
        defer { line.end() }
        try File.create(file) { temporary in
            try database.backUp(to: temporary) { progress in
                guard !stopped.isClosed else { throw BackupFault.stopped }
                octets = progress.totalBytes
                line.show(Self.status(progress))
            }
        }
        return octets
    }

    static func status(_ progress: BackupProgress) -> String {
        let percent =
            progress.totalBytes > 0 ? progress.copiedBytes * 100 / progress.totalBytes : 100
        let mebi = 1 << 20
        return "\(progress.copiedBytes / mebi) of \(progress.totalBytes / mebi) MiB, \(percent) %"
            + (percent == 100 ? ", looking it through" : "")
    }
}

/// Why a backup ended before its end.
enum BackupFault: Error, CustomStringConvertible {
    case stopped

    var description: String { "stopped by a signal" }
}
