internal import Cryptography

/// One numbered step from one shape of the database to the next.
///
/// Its text is a file under `migrations/`, carried in the program, and never edited once released:
/// databases remember the checksum of what they were made with.
public struct Migration: Equatable, Sendable {
    public let number: Int
    public let name: String
    /// SHA-256 of the text in lower-case hex.
    let checksum: String
    let script: String

    init(_ number: Int, _ name: String, _ text: [UInt8]) {
        self.number = number
        self.name = name
        checksum = Hex.encode(SHA256.digest(text))
        script = String(decoding: text, as: UTF8.self)
    }

    /// Every migration of the SQLite engine, in order: the file `0001_name.sql` is `_001_name_sql`
    /// among the embedded resources.
    static let sqlite = [
        Migration(1, "accounts", PackageResources._001_accounts_sql),
        Migration(2, "users", PackageResources._002_users_sql),
        Migration(3, "hash_login", PackageResources._003_hash_login_sql),
    ]
}
