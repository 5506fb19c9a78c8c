internal import AuthStorage
internal import Cryptography
internal import Glibc

/// The 32 bytes that signing keys are sealed under.
///
/// Kept in `<storage.directory>/master.secret`, or in a file named by `POSTERN_MASTER_SECRET_FILE`,
/// as 32 bytes or as 64 hex digits. Lost, the stored signing keys are lost with it.
enum MasterSecret {
    static let octets = 32
    static let fileName = "master.secret"

    /// The secret that this configuration means. A database in memory takes its signing keys with
    /// it, so its secret needs no file.
    static func find(for config: Config) throws(MasterSecretFault) -> SecretBytes {
        if let path = ProcessEnvironment.variables[Environment.masterSecretFile] {
            return try read(path, isOurs: false)
        }
        if config.database.isInMemory { return SecretBytes(RandomBytes.make(octets)) }
        return try inDirectory(config.storage.directory)
    }

    /// The file that it is in, or will be.
    static func place(for config: Config) -> String {
        ProcessEnvironment.variables[Environment.masterSecretFile]
            ?? "\(config.storage.directory)/\(fileName)"
    }

    /// Reads the secret that is there, or makes one: durable before it is first used, and of two
    /// servers that start at once both get the same.
    static func inDirectory(_ directory: String) throws(MasterSecretFault) -> SecretBytes {
        let path = "\(directory)/\(fileName)"
        do throws(MasterSecretFault) {
            return try read(path, isOurs: true)
        } catch  where error.cause == .file(.missing) {
            try create(path, in: directory)
            return try read(path, isOurs: true)
        }
    }

    /// - Parameter isOurs: a file of our making must be readable by its owner alone; a mounted
    ///   secret has the mode that its orchestrator gave it.
    static func read(_ path: String, isOurs: Bool) throws(MasterSecretFault) -> SecretBytes {
        if isOurs { try checkMode(of: path) }
        let content: [UInt8]
        do throws(FileFault) {
            content = try File.bytes(at: path, atMost: 4096)
        } catch {
            throw MasterSecretFault(path: path, cause: isOurs ? .file(error) : .mounted(error))
        }
        if content.count == octets { return SecretBytes(content) }
        let text = content.last == 0x0a ? content.dropLast() : content[...]
        guard text.count == 2 * octets, let decoded = Hex.decode(text) else {
            throw MasterSecretFault(path: path, cause: .length(content.count))
        }
        return SecretBytes(decoded)
    }

    private static func create(
        _ path: String, in directory: String
    ) throws(MasterSecretFault) {
        do throws(FileFault) {
            try File.makeDirectory(directory)
            try File.create(path, content: RandomBytes.make(octets))
        } catch .exists {
            // Another server was first; its secret is the one.
        } catch {
            throw MasterSecretFault(path: path, cause: .notMade(error))
        }
    }

    private static func checkMode(of path: String) throws(MasterSecretFault) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw MasterSecretFault(path: path, cause: .file(.last))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw MasterSecretFault(path: path, cause: .mode(status.st_mode & 0o777))
        }
    }
}

/// Why there is no master secret.
struct MasterSecretFault: Error, Equatable, CustomStringConvertible {
    enum Cause: Equatable, Sendable {
        case file(FileFault)
        /// In the file that `POSTERN_MASTER_SECRET_FILE` names, which is never made.
        case mounted(FileFault)
        case notMade(FileFault)
        case length(Int)
        case mode(UInt32)
    }

    let path: String
    let cause: Cause

    var description: String {
        switch cause {
        case .file(let fault): "the master secret \(path) cannot be read: \(fault)"
        case .mounted(let fault):
            "the master secret \"\(path)\", which POSTERN_MASTER_SECRET_FILE names, cannot be read:"
                + " \(fault)"
        case .notMade(let fault):
            "the master secret \(path) cannot be made: \(fault); storage.directory (--data) must be"
                + " a directory that this user may write to"
        case .length(let octets):
            "the master secret \(path) has \(octets) octets; it must be 32 octets, or 64 hex digits"
        case .mode(let mode):
            "the master secret \(path) can be read by others (mode 0\(String(mode, radix: 8)));"
                + " run: chmod 600 \(path)"
        }
    }
}
