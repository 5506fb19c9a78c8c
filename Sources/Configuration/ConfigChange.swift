internal import AuthStorage

/// The changes to a running server when its configuration was read again.
public struct ConfigChange: Sendable {
    /// A setting whose value has changed.
    public struct Item: Equatable, Sendable {
        public let key: String
        /// The value as TOML, or `unset` if there is none. A value that may be secret is never
        /// shown.
        public let old: String
        public let new: String
    }

    /// The configuration from now on. Settings that can change while the server runs have their new
    /// values; all others keep the present ones.
    public let result: LoadedConfig
    public let applied: [Item]
    /// What a restart would change.
    public let postponed: [Item]

    /// - Throws: the rules that the combination of new and present values breaks.
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
