internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Cryptography
internal import Glibc
internal import Platform

/// The 32 bytes that encrypt the stored signing keys.
///
/// They are in `<storage.directory>/master.secret`, or in the file that the variable
/// `POSTERN_MASTER_SECRET_FILE` names, as 32 bytes or as 64 hex digits. Without them the stored
/// signing keys cannot be used.
enum MasterSecret {
    static let byteCount = 32
    static let fileName = "master.secret"

    /// The secret for this configuration; `nil` when it is in the data directory and missing there.
    /// A database in memory needs no file, because its signing keys end with the process.
    static func find(for config: Config) throws(MasterSecretError) -> SecretBytes? {
        if let path = Process.environment[Environment.masterSecretFile] {
            return try read(path, isOurs: false)
        }
        if config.database.isInMemory { return SecretBytes(RandomBytes.make(byteCount)) }
        do throws(MasterSecretError) {
            return try reread(for: config)
        } catch  where error.cause == .file(.missing) {
            return nil
        }
    }

    /// Creates the missing secret, or returns the one that another server has created meanwhile.
    /// Never creates a secret for a database with signing keys, because it could not decrypt them.
    static func create(for config: Config, in stores: Stores) async throws -> SecretBytes {
        let isNew = try await stores.signingKeys.keys().isEmpty
        return try isNew ? inDirectory(config.storage.directory) : reread(for: config)
    }

    /// Refuses a database file of 0 bytes beside a secret. The secret shows that there was a
    /// database; without this check, a new one would silently replace it.
    static func checkDatabase(of config: Config) throws(MasterSecretError) {
        let path = "\(config.storage.directory)/\(fileName)"
        guard config.database.isEmptyFile, access(path, F_OK) == 0 else { return }
        throw MasterSecretError(path: path, cause: .emptyDatabase(config.database.name))
    }

    /// The secret that is in its file now; never creates one. A server reads it again when the
    /// operator has replaced it.
    static func reread(for config: Config) throws(MasterSecretError) -> SecretBytes {
        try read(
            path(for: config), isOurs: Process.environment[Environment.masterSecretFile] == nil)
    }

    /// A warning about the file of a usable secret; `nil` if there is none.
    static func exposure(for config: Config) -> String? {
        if let path = Process.environment[Environment.masterSecretFile] {
            return exposure(aboutMounted: path)
        }
        guard !config.database.isInMemory else { return nil }
        // The server does not read a file with such a mode. This warning allows the operator to
        // correct it before the next start.
        let path = path(for: config)
        guard let mode = File.mode(of: path), mode & 0o077 != 0 else { return nil }
        return MasterSecretError(path: path, cause: .mode(mode)).description
    }

    static func exposure(aboutMounted path: String) -> String? {
        guard let mode = File.mode(of: path), mode & 0o044 != 0 else { return nil }
        return "the master secret \(path) can be read by others (mode \(mode.octal))"
    }

    /// The path of the file, whether or not it exists.
    static func path(for config: Config) -> String {
        Process.environment[Environment.masterSecretFile]
            ?? "\(config.storage.directory)/\(fileName)"
    }

    /// Reads the secret, or creates one that is durable before its first use. Two servers that
    /// start at the same time get the same secret.
    static func inDirectory(_ directory: String) throws(MasterSecretError) -> SecretBytes {
        let path = "\(directory)/\(fileName)"
        do throws(MasterSecretError) {
            return try read(path, isOurs: true)
        } catch  where error.cause == .file(.missing) {
            try create(path, in: directory)
            return try read(path, isOurs: true)
        }
    }

    /// - Parameter isOurs: whether this program creates the file, which then only its owner may
    ///   read. The mode of a mounted secret is set by the orchestrator, and often all users of the
    ///   container can read it. Other users must not be able to write to it.
    static func read(_ path: String, isOurs: Bool) throws(MasterSecretError) -> SecretBytes {
        try checkMode(of: path, isOurs: isOurs)
        var content: [UInt8]
        do throws(FileError) {
            content = try File.bytes(at: path, atMost: 4096)
        } catch {
            throw MasterSecretError(path: path, cause: isOurs ? .file(error) : .mounted(error))
        }
        defer { content.wipe() }
        if content.count == byteCount { return SecretBytes(content) }
        let text = content.last == 0x0a ? content.dropLast() : content[...]
        guard text.count == 2 * byteCount, var decoded = Hex.decode(text) else {
            throw MasterSecretError(path: path, cause: .length(content.count))
        }
        defer { decoded.wipe() }
        return SecretBytes(decoded)
    }

    private static func create(
        _ path: String, in directory: String
    ) throws(MasterSecretError) {
        do throws(FileError) {
            try File.makeDirectory(directory)
            var content = RandomBytes.make(byteCount)
            defer { content.wipe() }
            try File.create(path, content: content)
        } catch .exists {
            // Another server was faster; its secret is used.
        } catch {
            throw MasterSecretError(path: path, cause: .notCreated(error))
        }
    }

    private static func checkMode(of path: String, isOurs: Bool) throws(MasterSecretError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw MasterSecretError(path: path, cause: isOurs ? .file(.last) : .mounted(.last))
        }
        guard status.st_mode & (isOurs ? 0o077 : 0o022) == 0 else {
            throw MasterSecretError(path: path, cause: .mode(status.st_mode & 0o777))
        }
    }
}

/// Why the master secret cannot be used.
struct MasterSecretError: Error, Equatable, CustomStringConvertible {
    enum Cause: Equatable, Sendable {
        case file(FileError)
        /// There is a secret, and the database at this path has 0 bytes.
        case emptyDatabase(String)
        /// The file that `POSTERN_MASTER_SECRET_FILE` names, which is never created.
        case mounted(FileError)
        case notCreated(FileError)
        case length(Int)
        case mode(UInt32)
    }

    let path: String
    let cause: Cause

    var description: String {
        switch cause {
        case .file(.missing):
            "the master secret \(path) is missing, and the signing keys in the database cannot be"
                + " used without it: put it back from where you keep it"
        case .file(let error): "the master secret \(path) cannot be read: \(error)"
        case .emptyDatabase(let database):
            "the database \(database) has 0 bytes, but its master secret \(path) is there: restore"
                + " a backup of it, or delete \(database) to begin with a new one"
        case .mounted(let error):
            "the master secret \"\(path)\", which POSTERN_MASTER_SECRET_FILE names, cannot be read:"
                + " \(error)"
        case .notCreated(let error):
            "the master secret \(path) cannot be created: \(error); storage.directory (--data) must"
                + " be a directory that this user may write to"
        case .length(let count):
            "the master secret \(path) has \(count) bytes; it must have 32 bytes or 64 hex digits"
        case .mode(let mode):
            "the master secret \(path) can be read or replaced by others"
                + " (mode \(mode.octal)); run: chmod 600 \(path)"
        }
    }
}
