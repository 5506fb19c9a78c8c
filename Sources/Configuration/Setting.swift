/// One setting: its key, what it accepts, and its field in ``Config``.
///
/// The table ``Config/settings`` is the only place where a key is written. The configuration file,
/// the environment, `check-config` and the tests read it.
public struct Setting: Sendable {
    static let variablePrefix = "POSTERN_"

    /// The key with its section, as in the file: `server.port`.
    let key: String
    /// The accepted values, for faults.
    let accepts: String
    /// Assigns the value to its field; `false` when it is not accepted.
    let assign: @Sendable (RawValue, inout Config) -> Bool
    /// The field as TOML; `nil` while it has no value.
    let show: @Sendable (Config) -> String?
    /// Gives the field of the second configuration the value that it has in the first.
    let copy: @Sendable (Config, inout Config) -> Void
    /// Whether SIGHUP changes it in a running server; otherwise it needs a restart.
    private(set) var isReloadable = false

    init<Value: Sendable>(
        _ key: String, _ field: any WritableKeyPath<Config, Value> & Sendable,
        _ syntax: Syntax<Value>
    ) {
        self.key = key
        accepts = syntax.accepts
        assign = { raw, config in
            guard let value = syntax.parse(raw) else { return false }
            config[keyPath: field] = value
            return true
        }
        show = { syntax.show($0[keyPath: field]) }
        copy = { $1[keyPath: field] = $0[keyPath: field] }
    }

    /// The same setting, marked as reloadable: a reload builds everything again that uses its
    /// field.
    var reloadable: Setting {
        var setting = self
        setting.isReloadable = true
        return setting
    }

    /// The environment variable: `POSTERN_SERVER_PORT` for `server.port`.
    var variable: String { Self.variable(of: key) }

    public static func variable(of key: String) -> String {
        let name = key.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "."): UInt8(ascii: "_")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte & 0xdf
            default: byte
            }
        }
        return variablePrefix + String(decoding: name, as: UTF8.self)
    }
}
