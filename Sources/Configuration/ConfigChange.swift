internal import AuthStorage

/// What a configuration that was read again changes in a server that runs.
public struct ConfigChange: Sendable {
    /// A setting whose value is another one.
    public struct Item: Equatable, Sendable {
        public let key: String
        /// As TOML; `unset` without one. Never a value that may be secret.
        public let old: String
        public let new: String
    }

    /// What the server is to do from now on: the new values of the settings that can change while
    /// it runs, and the present ones of all others.
    public let result: LoadedConfig
    public let applied: [Item]
    /// What a restart would change.
    public let postponed: [Item]

    /// - Throws: the rules that the new values break together with those that stay.
    public init(from present: LoadedConfig, to next: LoadedConfig) throws(ConfigFaults) {
        var config = present.config
        var sources = present.sources
        var changed: [Bool: [Item]] = [:]
        for setting in Config.settings {
            let (old, new) = (setting.show(present.config), setting.show(next.config))
            if setting.isReloadable {
                setting.copy(next.config, &config)
                sources[setting.key] = next.sources[setting.key]
            }
            guard old != new else { continue }
            let isSecret = [present, next].contains { $0.sources[setting.key]?.isSecret == true }
            changed[setting.isReloadable, default: []].append(
                Item(
                    key: setting.key, old: Self.shown(old, isSecret: isSecret),
                    new: Self.shown(new, isSecret: isSecret)))
        }
        let faults = ConfigRules.faults(in: config, sources: sources)
        guard faults.isEmpty else { throw ConfigFaults(faults: faults) }
        result = LoadedConfig(config: config, sources: sources)
        applied = changed[true] ?? []
        postponed = changed[false] ?? []
    }

    /// A list of names may be long; the log needs its beginning.
    private static func shown(_ value: String?, isSecret: Bool) -> String {
        guard !isSecret else { return "redacted" }
        guard let value else { return "unset" }
        return value.count > 500 ? value.prefix(500) + "…" : value
    }
}
