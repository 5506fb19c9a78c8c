internal import Glibc

/// Where a SQLite database is.
enum SQLiteLocation: Equatable, Sendable {
    /// In this process's memory, until the store is closed.
    case memory
    /// A file. It and its directory are created when they are missing.
    case file(String)

    private static let scheme = "sqlite:"
    private static let maximumPathBytes = 1000

    /// - Parameter url: `sqlite::memory:` or `sqlite:<path>`.
    /// - Returns: `nil` for another scheme and for a path that no file can have: an empty one, one
    ///   with control characters, or one that begins with a colon, to which SQLite gives meanings
    ///   of its own.
    init?(url: String) {
        guard url.hasPrefix(Self.scheme) else { return nil }
        let path = String(url.dropFirst(Self.scheme.count))
        if path == ":memory:" {
            self = .memory
            return
        }
        guard (1...Self.maximumPathBytes).contains(path.utf8.count), !path.hasPrefix(":"),
            path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        self = .file(path)
    }

    var url: String { Self.scheme + path }

    /// As `sqlite3_open_v2` takes it.
    var path: String {
        switch self {
        case .memory: ":memory:"
        case .file(let path): path
        }
    }

    /// Whether there is a file to look at.
    var exists: Bool {
        switch self {
        case .memory: false
        case .file(let path): access(path, F_OK) == 0
        }
    }

    /// `false` also for a file in a directory that cannot be searched: it may be there.
    var isMissing: Bool {
        switch self {
        case .memory: false
        case .file(let path): access(path, F_OK) != 0 && errno == ENOENT
        }
    }

    var isEmptyFile: Bool {
        guard case .file(let path) = self else { return false }
        var status = stat()
        return stat(path, &status) == 0 && status.st_size == 0
    }

    /// Throws if there is a file that this process may not write.
    func checkWritable() throws {
        guard case .file(let path) = self, exists, access(path, W_OK) != 0 else { return }
        throw StorageError.inaccessible(path: path, code: errno)
    }

    /// Creates the file and its directory, unless they are there. Only their owner may read them.
    func create() throws {
        guard case .file(let path) = self else { return }
        try Self.createDirectory(of: path)
        // Not `open`: closing a descriptor of a database drops every lock that this process holds
        // on the file (fcntl(2)), also those of another store on it.
        guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
            throw StorageError.inaccessible(path: path, code: errno)
        }
    }

    private static func createDirectory(of path: String) throws {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else {
            throw StorageError.inaccessible(path: directory, code: errno)
        }
        try createDirectory(of: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw StorageError.inaccessible(path: directory, code: errno)
        }
    }
}
