/// Puts the sources together: defaults, then the file, then the environment, then the command line.
///
/// Promises: either a whole ``Config`` with the source of each value, or every fault of every
/// source. A bad value is a fault even where another source overrides it.
struct ConfigLoader {
    /// `--config`; `nil` uses ``ConfigFile/standardPath`` if it exists.
    var path: String?
    /// The environment, as names and values.
    var environment: [String: String] = [:]
    /// Flags that were given: key, flag, value.
    var flags: [Flag] = []
    /// A file's text; the tests have their own.
    var readFile: @Sendable (String) throws(FileFault) -> String = { path throws(FileFault) in
        try File.text(at: path, atMost: ConfigFile.maximumOctets)
    }

    struct Flag: Sendable {
        let key: String
        let name: String
        let value: String
    }

    func load() throws(ConfigurationFaults) -> LoadedConfig {
        let layers = [
            fileLayer(), Environment.layer(of: environment, readFile: readFile), flagLayer(),
        ]
        var faults = layers.flatMap(\.faults)
        var config = Config(profile: profile(from: layers))
        var sources: [String: Source] = [:]
        for layer in layers {
            for setting in Config.settings {
                guard let entry = layer.entries[setting.key] else { continue }
                guard setting.assign(entry.raw, &config) else {
                    faults.append(Self.refusal(of: entry, setting))
                    continue
                }
                sources[setting.key] = entry.source
            }
        }
        config.settle(sources: sources)
        faults += config.conflicts(sources: sources)
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
        return LoadedConfig(config: config, sources: sources)
    }

    private func fileLayer() -> Layer {
        let name = path ?? ConfigFile.standardPath
        do throws(FileFault) {
            return ConfigFile.layer(of: try readFile(name), path: name)
        } catch {
            var layer = Layer()
            if error == .missing && path == nil { return layer }
            layer.refuse(
                "file", at: .file(path: name, line: nil), "cannot be read: \(error)",
                "name a readable file with --config")
            return layer
        }
    }

    private func flagLayer() -> Layer {
        var layer = Layer()
        for flag in flags {
            layer.entries[flag.key] = Layer.Entry(
                raw: .untyped(flag.value), source: .flag(flag.name))
        }
        return layer
    }

    /// The profile decides the defaults, so it is known before anything else.
    private func profile(from layers: [Layer]) -> Profile {
        for layer in layers.reversed() {
            if let raw = layer.entries["profile"]?.raw,
                let profile = Syntax<Profile>.oneOf.parse(raw)
            {
                return profile
            }
        }
        return .development
    }

    private static func refusal(of entry: Layer.Entry, _ setting: Setting) -> Fault {
        let value = entry.source.isSecret ? "the value in it" : entry.raw.shown
        return Fault(
            source: entry.source, key: setting.key, problem: "\(value) is not accepted",
            remedy: "expected \(setting.accepts)")
    }
}

/// A configuration, and where each value that is not a default came from.
struct LoadedConfig: Sendable {
    let config: Config
    let sources: [String: Source]
}
