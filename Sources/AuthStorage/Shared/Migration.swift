internal import Cryptography

/// One numbered step from one database schema to the next.
///
/// Its SQL is a file under `migrations/`, embedded in the program. A released file is never edited,
/// not even its comments: databases record the checksum of the whole file.
public struct Migration: Equatable, Sendable {
    public let number: Int
    public let name: String
    /// SHA-256 of the file, in lower-case hex.
    let checksum: String
    let script: String

    init(_ number: Int, _ name: String, _ file: [UInt8]) {
        self.number = number
        self.name = name
        checksum = Hex.encode(SHA256.digest(file))
        script = String(decoding: file, as: UTF8.self)
    }
}

/// The applied migrations of a database, and the pending ones. Both in order.
public struct MigrationStatus: Equatable, Sendable {
    public let applied: [Migration]
    public let pending: [Migration]
}

extension MigrationStatus {
    /// Compares what a database has recorded with the migrations of this program.
    /// - Parameters:
    ///   - recorded: number and checksum of each applied migration, ordered by number.
    ///   - known: this program's migrations for this engine.
    ///   - path: names the database in errors.
    /// - Throws: ``MigrationError`` when the database is newer than this program, or was migrated
    ///   with different files.
    init(
        recorded: [(number: Int, checksum: String)], known: [Migration], path: String
    ) throws(MigrationError) {
        for (index, row) in recorded.enumerated() {
            guard row.number == index + 1 else {
                throw .gap(path: path, expected: index + 1, found: row.number)
            }
            guard index < known.count else {
                throw .newer(path: path, database: recorded.count, program: known.count)
            }
            guard row.checksum == known[index].checksum else {
                throw .changed(path: path, number: row.number, name: known[index].name)
            }
        }
        self.init(
            applied: Array(known[..<recorded.count]), pending: Array(known[recorded.count...]))
    }
}
