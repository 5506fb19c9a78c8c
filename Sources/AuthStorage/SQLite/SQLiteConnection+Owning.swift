internal import AuthCore
internal import CSQLite

extension SQLiteConnection {
    /// Whether `owner` has fewer than `limit` of what `query` lists; looks at no more than that.
    /// - Parameters:
    ///   - query: gives the one at place `?2`, from 0, of what the owner `?1` has.
    ///   - rest: its parameters from `?3` on.
    func hasRoom(
        _ query: Query, _ owner: UserID, _ limit: Int, _ rest: SQLValue...
    ) throws -> Bool {
        guard limit > 0 else { return false }
        return try rows(query, [.id(owner), .limit(limit - 1)] + rest) { _ in }.isEmpty
    }

    /// Says ``StorageError/unknownOwner`` where `insert` names an owner that is not there.
    func namingTheOwner<T>(_ insert: () throws -> T) throws -> T {
        do {
            return try insert()
        } catch StorageError.failed(_, Self.foreignKeyFault) {
            throw StorageError.unknownOwner
        }
    }

    /// `SQLITE_CONSTRAINT_FOREIGNKEY`, which C computes in a macro.
    private static let foreignKeyFault = SQLITE_CONSTRAINT | (3 << 8)
}
