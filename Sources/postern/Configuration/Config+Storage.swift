internal import AuthStorage

extension Config {
    /// Where state is kept.
    struct Storage: Sendable {
        /// Directory of the database and of the master secret; made on first start, 0700.
        var directory = "data"
        /// `sqlite:<path>` or `sqlite::memory:`; by default `sqlite:<directory>/postern.db`. The
        /// test profile defaults to memory unless this or the directory is set.
        var url: Database?

        static let settings = [
            Setting("storage.directory", \.storage.directory, .path),
            Setting("storage.url", \.storage.url, Syntax.database.optional),
        ]
    }
}

extension Syntax<Database> {
    static let database = Syntax.string(
        Database.acceptedURLs, read: { try? Database(url: $0) }, write: \.url)
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
