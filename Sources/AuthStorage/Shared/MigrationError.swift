/// Why a database cannot be migrated. Nothing in it was changed.
public enum MigrationError: Error, Equatable, Sendable {
    /// The database belongs to another program, or is not one.
    case foreign(path: String)
    /// A newer program has applied migrations that this one does not know.
    case newer(path: String, database: Int, program: Int)
    /// The file of a migration is not the one that the database was migrated with.
    case changed(path: String, number: Int, name: String)
    /// The migrations that the database has recorded are not numbered 1, 2, 3 and so on.
    case gap(path: String, expected: Int, found: Int)
    /// A copy into the database was interrupted.
    case incomplete(path: String)
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
        case .incomplete(let path):
            "a copy into \(path) was interrupted; complete it with"
                + " `postern migrate --from … --to …`"
        }
    }
}
