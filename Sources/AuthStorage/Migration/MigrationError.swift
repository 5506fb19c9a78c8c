/// Why a database cannot be brought to the shape that this program knows. Nothing was changed.
public enum MigrationError: Error, Equatable, Sendable {
    /// The file is not a SQLite database, or belongs to another program.
    case foreign(path: String)
    /// A newer program has migrated the database further than this one knows.
    case newer(path: String, database: Int, program: Int)
    /// The text of a migration is not the one that the database was made with.
    case changed(path: String, number: Int, name: String)
    /// The database remembers migrations that do not follow one another.
    case gap(path: String, expected: Int, found: Int)
}

extension MigrationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .foreign(let path):
            "\(path) is not a Postern database; it was left as it is"
        case .newer(let path, let database, let program):
            "\(path) was migrated to \(database) by a newer Postern, this one knows \(program); "
                + "run the newer one, or restore a backup from before"
        case .changed(let path, let number, let name):
            "migration \(number) (\(name)) of \(path) is not the one this Postern carries; "
                + "one of the two was edited after its release"
        case .gap(let path, let expected, let found):
            "\(path) lacks migration \(expected) but has \(found); it was edited by hand"
        }
    }
}
