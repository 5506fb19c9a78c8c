internal import AuthStorage
public import Platform

/// Combines the sources: defaults, then the file, then the environment, then the command line, then
/// the sockets of the service manager.
///
/// The result is a complete ``Config`` with the source of each value, or all faults of all sources.
/// A value that is not accepted is a fault also where another source overrides it.
public struct ConfigLoader: Sendable {
    /// The value of `--config`; `nil` reads ``ConfigFile/standardPath`` if it exists.
    public let path: String?
    /// The environment, as names and values.
    public var environment: [String: String]
    /// The options of the command line that are settings.
    public var flags: [Flag]
    /// The settings that inherited sockets replace.
    public var inherited = ConfigLayer()
    /// Returns the text of a file. Tests replace it.
    public var readFile: @Sendable (String) throws(FileError) -> String

    public struct Flag: Sendable {
        let key: String
        let name: String
        let value: String

        public init(key: String, name: String, value: String) {
            self.key = key
            self.name = name
            self.value = value
        }
    }

    public init(
        path: String? = nil, environment: [String: String] = [:], flags: [Flag] = [],
        readFile: @escaping @Sendable (String) throws(FileError) -> String = {
            path throws(FileError) in
            try File.text(at: path, atMost: ConfigFile.maximumBytes)
        }
    ) {
        self.path = path
        self.environment = environment
        self.flags = flags
        self.readFile = readFile
    }

    public func load() throws(ConfigFaults) -> LoadedConfig {
        let layers = [
            fileLayer(), Environment.layer(of: environment, readFile: readFile), flagLayer(),
            inherited,
        ]
        var faults = layers.flatMap(\.faults)
        var config = Config(profile: profile(from: layers))
        var sources: [String: ConfigSource] = [:]
        for layer in layers {
            for setting in Config.settings {
                guard let entry = layer.entries[setting.key],
                    !Self.isListener(entry, of: setting.key, config)
                else { continue }
                guard setting.assign(entry.raw, &config) else {
                    faults.append(Self.notAccepted(entry, setting))
                    continue
                }
                sources[setting.key] = entry.source
            }
        }
        config.completeDefaults(sources: sources)
        faults += ConfigRules.faults(in: config, sources: sources)
        guard faults.isEmpty else { throw ConfigFaults(faults: faults) }
        return LoadedConfig(config: config, sources: sources)
    }

    /// Whether the entry is a socket for one of the listeners that have tables. No table serves the
    /// socketmap.
    private static func isListener(
        _ entry: ConfigLayer.Entry, of key: String, _ config: Config
    ) -> Bool {
        guard case .inheritedSocket = entry.source, key != "services.socketmap" else {
            return false
        }
        return !config.server.listeners.isEmpty
    }

    private func fileLayer() -> ConfigLayer {
        let name = path ?? ConfigFile.standardPath
        do throws(FileError) {
            return ConfigFile.layer(of: try readFile(name), path: name)
        } catch {
            var layer = ConfigLayer()
            if error == .missing && path == nil { return layer }
            layer.addFault(
                "file", at: .file(path: name, line: nil), "cannot be read: \(error)",
                "name a readable file with --config")
            return layer
        }
    }

    private func flagLayer() -> ConfigLayer {
        var layer = ConfigLayer()
        for flag in flags {
            layer.entries[flag.key] = ConfigLayer.Entry(
                raw: .untyped(flag.value), source: .flag(flag.name))
        }
        return layer
    }

    /// The profile is read before all other settings, because it decides their defaults.
    private func profile(from layers: [ConfigLayer]) -> Profile {
        for layer in layers.reversed() {
            if let raw = layer.entries["profile"]?.raw,
                let profile = Syntax<Profile>.oneOf.parse(raw)
            {
                return profile
            }
        }
        return .development
    }

    private static func notAccepted(_ entry: ConfigLayer.Entry, _ setting: Setting) -> ConfigFault {
        let value = entry.source.isSecret ? "the value in it" : entry.raw.withoutPasswords.shown
        return ConfigFault(
            source: entry.source, key: setting.key, problem: "\(value) is not accepted",
            remedy: "expected \(setting.accepts)")
    }
}

/// A configuration with the source of each value that is not a default.
public struct LoadedConfig: Sendable {
    public let config: Config
    let sources: [String: ConfigSource]

    /// Whether the value of the setting is not its default.
    public func isSet(_ key: String) -> Bool { sources[key] != nil }

    /// The file that has the password of the database: the configuration file, or the one that
    /// `POSTERN_STORAGE_URL_FILE` names. `nil` if `storage.url` has no password, or is not from a
    /// file.
    public var databasePasswordFile: String? {
        guard config.database.hasPassword else { return nil }
        switch sources["storage.url"] {
        case .file(let path, _), .secretFile(_, let path): return path
        default: return nil
        }
    }

    /// Warnings: settings that are allowed but risky.
    public var warnings: [ConfigFault] { ConfigRules.warnings(in: config, sources: sources) }

    /// Every setting as TOML with its source as a comment. The value from a `…_FILE` variable is
    /// not shown. The text can be used as a configuration file.
    public var listing: String {
        var out = ""
        var section: Substring = ""
        for setting in Config.settings {
            let name: Substring
            if let dot = setting.key.firstIndex(of: ".") {
                if setting.key[..<dot] != section {
                    section = setting.key[..<dot]
                    out += "\n[\(section)]\n"
                }
                name = setting.key[setting.key.index(after: dot)...]
            } else {
                name = setting.key[...]
            }
            out += line(for: setting, name: name) + "\n"
        }
        return out
    }

    private func line(for setting: Setting, name: Substring) -> String {
        let source = sources[setting.key] ?? .defaultValue
        let isReplaced =
            !config.server.listeners.isEmpty && ListenerSettings.shortForm.contains(setting.key)
        let value = source.isSecret || isReplaced ? nil : setting.show(config.effective)
        let text = value.map { "\(name) = \($0)" } ?? "# \(name) ="
        let remark = source.isSecret ? "redacted, from \(source.shown)" : source.shown
        let padding = String(repeating: " ", count: max(0, 40 - text.count))
        return "\(text)\(padding)  # \(value == nil && !source.isSecret ? "unset" : remark)"
    }
}

extension RawValue {
    /// The value without parts that may be the password of a URL, so that a fault can show it.
    fileprivate var withoutPasswords: RawValue {
        switch self {
        case .untyped(let text): .untyped(Database.hidingPasswords(in: text))
        case .string(let text): .string(Database.hidingPasswords(in: text))
        default: self
        }
    }
}
