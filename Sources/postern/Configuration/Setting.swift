/// One setting: its key, and how it gets into ``Config`` and out again.
///
/// The table of these (``Config/settings``) is the only place where a key is written down. The
/// file, the environment, `check-config` and the reference file's test all read it.
struct Setting: Sendable {
    /// Dotted, as in the file: `server.port`.
    let key: String
    /// What is accepted, for faults.
    let accepts: String
    /// Puts the value in its field; `false` when it is not accepted.
    let assign: @Sendable (RawValue, inout Config) -> Bool
    /// The field as TOML; `nil` while it is unset.
    let show: @Sendable (Config) -> String?

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
    }

    /// `POSTERN_SERVER_PORT` for `server.port`.
    var variable: String {
        Self.variablePrefix
            + String(
                decoding: key.utf8.map { byte in
                    switch byte {
                    case UInt8(ascii: "."): UInt8(ascii: "_")
                    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte & 0xdf
                    default: byte
                    }
                }, as: UTF8.self)
    }

    static let variablePrefix = "POSTERN_"
}
