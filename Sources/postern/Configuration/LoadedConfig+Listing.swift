extension LoadedConfig {
    /// Every setting as TOML with its source as a comment; what came out of a `…_FILE` is not
    /// shown. What is printed can be used as a configuration file.
    var listing: String {
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
        let source = sources[setting.key] ?? .standard
        let value = source.isSecret ? nil : setting.show(config.effective)
        let text = value.map { "\(name) = \($0)" } ?? "# \(name) ="
        let remark = source.isSecret ? "redacted, from \(source.shown)" : source.shown
        let padding = String(repeating: " ", count: max(0, 40 - text.count))
        return "\(text)\(padding)  # \(value == nil && !source.isSecret ? "unset" : remark)"
    }
}
