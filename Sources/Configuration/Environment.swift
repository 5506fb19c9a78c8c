internal import Platform

/// Reads the settings from the environment: `POSTERN_SERVER_PORT` for `server.port`, and
/// `POSTERN_SERVER_PORT_FILE` for a file that contains the value.
///
/// Every variable that begins with `POSTERN_` is known, injected by a container platform, or a
/// fault.
public enum Environment {
    /// Names the file of the master secret. It has no setting, because the secret is not part of
    /// the configuration.
    public static let masterSecretFile = "POSTERN_MASTER_SECRET_FILE"
    /// The name that the hash-login API documents for `hash_login.issuer`.
    private static let documentedIssuer = "JWT_ISSUER"
    private static let issuerVariable = "POSTERN_HASH_LOGIN_ISSUER"
    private static let fileSuffix = "_FILE"

    /// - Parameters:
    ///   - variables: the whole environment.
    ///   - readFile: returns the text of a file.
    static func layer(
        of variables: [String: String], readFile: (String) throws(FileError) -> String
    ) -> ConfigLayer {
        var layer = ConfigLayer()
        let keys = Dictionary(uniqueKeysWithValues: Config.settings.map { ($0.variable, $0.key) })
        if let issuer = variables[documentedIssuer], variables[issuerVariable] == nil {
            layer.entries["hash_login.issuer"] = ConfigLayer.Entry(
                raw: .untyped(issuer), source: .variable(documentedIssuer))
        }
        for name in variables.keys.sorted() where name.hasPrefix(Setting.variablePrefix) {
            guard let value = variables[name], name != masterSecretFile else { continue }
            if let key = keys[name] {
                layer.entries[key] = ConfigLayer.Entry(
                    raw: .untyped(value), source: .variable(name))
            } else if name.hasSuffix(fileSuffix),
                let key = keys[String(name.dropLast(fileSuffix.count))]
            {
                add(key, fileVariable: name, path: value, to: &layer, readFile)
            } else if !isInjected(name) {
                let near = name.nearest(among: Array(keys.keys) + [masterSecretFile])
                layer.addFault(
                    name, at: .variable(name), "no such setting",
                    near.map { "did you mean \($0)?" }
                        ?? "`postern check-config` lists the settings")
            }
        }
        return layer
    }

    /// Whether Kubernetes or Docker sets the variable in every container beside a service (or
    /// linked container) named `postern`: `POSTERN_PORT=tcp://10.0.0.7:8080`,
    /// `POSTERN_PORT_8080_TCP_ADDR`, `POSTERN_SERVICE_HOST`, `POSTERN_SERVICE_PORT_HTTP`. No
    /// setting has such a name.
    private static func isInjected(_ name: String) -> Bool {
        name == "POSTERN_PORT" || name.hasPrefix("POSTERN_PORT_")
            || name.hasPrefix("POSTERN_SERVICE_")
    }

    private static func add(
        _ key: String, fileVariable: String, path: String, to layer: inout ConfigLayer,
        _ readFile: (String) throws(FileError) -> String
    ) {
        let source = ConfigSource.secretFile(variable: fileVariable, path: path)
        if let other = layer.entries[key] {
            layer.addFault(
                key, at: source, "is also set by \(other.source.shown)", "set one of them")
            return
        }
        do throws(FileError) {
            var text = try readFile(path)
            // Editors and `echo` end a file with a newline that is not part of the value.
            if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
            layer.entries[key] = ConfigLayer.Entry(raw: .untyped(text), source: source)
        } catch {
            layer.addFault(key, at: source, "cannot be read: \(error)", "give a readable file")
        }
    }
}
