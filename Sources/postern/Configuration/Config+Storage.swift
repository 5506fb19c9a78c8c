extension Config {
    /// Where state is kept.
    struct Storage: Sendable {
        /// Directory of the database and of the master secret; made on first start, 0700.
        var directory = "data"
        /// `sqlite:<path>` or `sqlite::memory:`; by default `sqlite:<directory>/postern.db`. The
        /// test profile defaults to memory unless this or the directory is set.
        var url: DatabaseLocation?

        static let settings = [
            Setting("storage.directory", \.storage.directory, .path),
            Setting("storage.url", \.storage.url, Syntax.databaseLocation.optional),
        ]
    }
}

/// Which database, as `storage.url` writes it.
enum DatabaseLocation: Equatable, Sendable {
    /// Gone when the process ends.
    case memory
    case sqlite(path: String)

    init?(_ text: String) {
        let scheme = "sqlite:"
        guard text.hasPrefix(scheme) else { return nil }
        let path = String(text.dropFirst(scheme.count))
        if path == ":memory:" {
            self = .memory
        } else {
            guard isUsablePath(path), !path.hasPrefix(":") else { return nil }
            self = .sqlite(path: path)
        }
    }

    var text: String {
        switch self {
        case .memory: "sqlite::memory:"
        case .sqlite(let path): "sqlite:\(path)"
        }
    }
}

extension Syntax<DatabaseLocation> {
    static let databaseLocation = Syntax.string(
        "\"sqlite:<path>\" or \"sqlite::memory:\"", read: { DatabaseLocation($0) }, write: \.text)
}

extension Syntax<String> {
    /// A path of the file system.
    static let path = Syntax.string(
        "a path of 1 to 1,000 octets without control characters",
        read: { isUsablePath($0) ? $0 : nil }, write: { $0 })
}

private func isUsablePath(_ text: String) -> Bool {
    (1...1000).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
}
