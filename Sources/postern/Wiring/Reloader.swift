internal import Configuration
internal import HTTPEngine
internal import Logging
internal import Platform

/// Reads the configuration again while the server runs, and applies the changes that need no
/// restart. If there is a fault, nothing changes.
///
/// Owned by one task: reloads follow each other.
struct Reloader: Sendable {
    /// Reads the sources that the server was started with.
    let loader: ConfigLoader
    let logger: Logger
    /// The configuration that the server runs with.
    private(set) var present: LoadedConfig
    /// ``TOMLTrial``.
    let isReadable: @Sendable (String) async throws(FileError) -> Bool
    /// Applies a configuration as a whole, or throws without changing anything.
    let apply: @Sendable (Config) async throws -> Void

    init(
        _ loader: ConfigLoader, present: LoadedConfig, logger: Logger,
        isReadable: @escaping @Sendable (String) async throws(FileError) -> Bool =
            TOMLTrial.isReadable,
        apply: @escaping @Sendable (Config) async throws -> Void
    ) {
        self.loader = loader
        self.present = present
        self.logger = logger
        self.isReadable = isReadable
        self.apply = apply
    }

    /// - Returns: whether the configuration was accepted.
    mutating func reload() async -> Bool {
        do {
            let change = try ConfigChange(from: present, to: try await read())
            try await apply(change.result.config)
            present = change.result
            report(change)
            return true
        } catch let error as ConfigFaults {
            for fault in error.faults {
                logger.error("a fault in the configuration", metadata: ["fault": "\(fault.shown)"])
            }
            logger.error("the configuration is not used: the server goes on with the one it has")
        } catch {
            logger.error(
                "the configuration is not used: the server goes on with the one it has",
                error: error)
        }
        return false
    }

    private func report(_ change: ConfigChange) {
        for item in change.applied {
            logger.notice("a setting has changed", metadata: Self.metadata(item))
        }
        for item in change.postponed {
            logger.warning("a setting needs a restart to change", metadata: Self.metadata(item))
        }
        for warning in change.result.startWarnings { logger.warning("\(warning)") }
        logger.notice(
            "the configuration was read again",
            metadata: [
                "changed": "\(change.applied.count)", "need_restart": "\(change.postponed.count)",
            ])
    }

    private static func metadata(_ item: ConfigChange.Item) -> Logger.Metadata {
        ["setting": "\(item.key)", "old": "\(item.old)", "new": "\(item.new)"]
    }

    /// The file is read once, so the text that was tested is the text that is used.
    private func read() async throws -> LoadedConfig {
        var loader = loader
        let (path, readFile) = (loader.path ?? ConfigFile.standardPath, loader.readFile)
        let file: Result<String, FileError>
        do throws(FileError) {
            file = .success(try readFile(path))
        } catch {
            file = .failure(error)
        }
        if case .success(let text) = file, !(try await isReadable(text)) {
            throw ConfigFaults(faults: [
                ConfigFault(
                    source: .file(path: path, line: nil), key: "file",
                    problem: "is not TOML, and the parser gave up",
                    remedy: "look for a missing bracket or quote")
            ])
        }
        loader.readFile = { name throws(FileError) in
            try name == path ? file.get() : readFile(name)
        }
        return try loader.load()
    }
}
