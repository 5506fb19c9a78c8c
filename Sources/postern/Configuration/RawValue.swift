/// A setting's value as its source wrote it, before anyone knows what it should be.
enum RawValue: Equatable, Sendable {
    /// From a flag or a variable, which know only text; a syntax reads it as what it needs.
    case untyped(String)
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case list([RawValue])
    /// A TOML type that no setting takes, by its name.
    case other(String)

    /// How the value is shown in a fault: as it was written, shortened, control characters escaped.
    var shown: String {
        switch self {
        case .untyped(let text), .string(let text): Self.quote(text)
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .boolean(let value): String(value)
        case .list(let values): "[" + values.map(\.shown).joined(separator: ", ") + "]"
        case .other(let name): "a \(name)"
        }
    }

    /// A TOML basic string (TOML 1.0, "String"), at most 200 characters of it.
    static func quote(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar {
            case "\"", "\\": out += "\\\(scalar)"
            case _ where !scalar.isHarmless: out += scalar.escape
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + (text.unicodeScalars.count > 200 ? "…\"" : "\"")
    }
}

/// Where a value came from, so that whoever has to mend it knows where to look.
enum Source: Equatable, Sendable {
    case standard
    case file(path: String, line: Int?)
    case variable(String)
    /// A file that a `…_FILE` variable names; what is in it may be secret and is never shown.
    case secretFile(variable: String, path: String)
    case flag(String)

    var shown: String {
        switch self {
        case .standard: "default"
        case .file(let path, let line): line.map { "\(path):\($0)" } ?? path
        case .variable(let name): name
        case .secretFile(let variable, let path): "\(variable) (\(path))"
        case .flag(let name): name
        }
    }

    /// Whether a value from here may be printed.
    var isSecret: Bool {
        if case .secretFile = self { return true }
        return false
    }
}
