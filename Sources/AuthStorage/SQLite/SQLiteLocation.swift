/// Where a SQLite database lives.
public enum SQLiteLocation: Equatable, Sendable {
    /// In this process's memory; gone with the store.
    case memory
    /// A file, made with its directory when it is not there.
    case file(String)

    /// Reads the setting `storage.url`: `sqlite::memory:` or `sqlite:<path>`.
    /// - Returns: `nil` for another engine or an empty path.
    public init?(url: String) {
        let scheme = "sqlite:"
        guard url.hasPrefix(scheme) else { return nil }
        let rest = String(url.dropFirst(scheme.count))
        switch rest {
        case "": return nil
        case ":memory:": self = .memory
        default:
            // A NUL would end the path early where C reads it.
            guard !rest.utf8.contains(0) else { return nil }
            self = .file(rest)
        }
    }
}
