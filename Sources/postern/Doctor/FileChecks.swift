internal import AuthAPI
internal import AuthStorage
internal import Configuration
internal import Fetching
internal import Glibc
internal import IdentityProviders
internal import Platform
internal import Provisioning

/// Who may read and write the files of a server.
struct FileChecks {
    private static let directory = "data directory"
    private static let master = "master secret"

    let config: Config

    func findings() -> [Finding] {
        (config.database.isInMemory ? [] : directoryFindings() + databaseFindings())
            + masterFindings()
            + secretFindings(
                "services secret", "services.secret_file", config.services.secretFile
            ) { _ = try ServicesAPI.Settings(config.services, isServed: config.servesServices) }
            + secretFindings(
                "provisioning secret", "provisioning.secret_file", config.provisioning.secretFile
            ) { _ = try EventReceiver(config) }
            + providerFindings()
            + secretFindings(
                "relay password", "mailer.password_file", config.mailer.passwordFile
            ) { _ = try MailRelay(config, publicURL: "") }
    }

    private func providerFindings() -> [Finding] {
        config.users.providers.flatMap { provider in
            secretFindings(
                "secret of \(provider.name)", "users.providers", provider.secretFile
            ) { _ = try ProviderSettings(provider) }
        }
    }

    private func directoryFindings() -> [Finding] {
        let path = config.storage.directory
        guard let mode = File.mode(of: path) else {
            return [
                Finding(
                    .caution, Self.directory, "\(path) does not exist; `postern serve` makes it")
            ]
        }
        return [exposure(of: path, mode, Self.directory, private: "700")]
    }

    /// The files of SQLite. A database on a server has none.
    private func databaseFindings() -> [Finding] {
        guard !config.database.isRemote else { return [] }
        return ["", "-wal", "-shm"].flatMap { suffix -> [Finding] in
            let path = config.database.name + suffix
            guard let mode = File.mode(of: path) else { return [] }
            return [exposure(of: path, mode, "database file", private: "600")] + owner(of: path)
        }
    }

    private func masterFindings() -> [Finding] {
        do throws(MasterSecretError) {
            guard try MasterSecret.find(for: config) != nil else {
                return [
                    Finding(
                        .ok, Self.master,
                        "there is none yet; `postern serve` makes it with the database"
                    )
                ]
            }
        } catch {
            return [Finding(.failed, Self.master, "\(error)")]
        }
        if config.database.isInMemory, MasterSecret.exposure(for: config) == nil { return [] }
        let path = MasterSecret.path(for: config)
        if let exposure = MasterSecret.exposure(for: config) {
            return [Finding(.caution, Self.master, exposure, "give it mode 0400 or 0600")]
        }
        return [Finding(.ok, Self.master, "\(path) can be read by its owner only")]
            + owner(of: path)
    }

    /// - Parameters:
    ///   - setting: the one that names the file.
    ///   - use: throws when no server would start with it.
    private func secretFindings(
        _ subject: String, _ setting: String, _ path: String?, use: () throws -> Void
    ) -> [Finding] {
        guard let path else { return [] }
        do {
            try use()
        } catch {
            return [Finding(.failed, subject, "\(error)")]
        }
        if let exposure = SecretFile.exposure(setting, path) {
            return [Finding(.caution, subject, exposure)]
        }
        return [Finding(.ok, subject, "\(path) can be read by its owner only")]
    }

    private func exposure(
        of path: String, _ mode: File.Mode, _ subject: String, private wanted: String
    ) -> Finding {
        let remedy = "run: chmod \(wanted) \(path)"
        if mode & 0o022 != 0 {
            return Finding(
                .failed, subject, "others can write to \(path) (mode \(mode.octal))", remedy)
        }
        if mode & 0o055 != 0 {
            return Finding(
                .caution, subject, "others can read \(path) (mode \(mode.octal))", remedy)
        }
        return Finding(.ok, subject, "only the owner can use \(path) (mode \(mode.octal))")
    }

    /// The server cannot use a file that a command created as another user, such as root.
    private func owner(of path: String) -> [Finding] {
        var file = stat()
        var directory = stat()
        guard stat(path, &file) == 0, stat(config.storage.directory, &directory) == 0,
            file.st_uid != directory.st_uid
        else { return [] }
        return [
            Finding(
                .caution, "owner",
                "\(path) belongs to the user \(file.st_uid), \(config.storage.directory) to"
                    + " \(directory.st_uid)", "give both to the user that runs the server")
        ]
    }
}
