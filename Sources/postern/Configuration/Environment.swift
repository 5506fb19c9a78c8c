/// The settings of the environment: `POSTERN_SERVER_PORT` for `server.port`, and
/// `POSTERN_SERVER_PORT_FILE` for a file that the value is read from.
///
/// Promises: every variable that begins with `POSTERN_` is either known or a fault.
enum Environment {
    /// Names the file of the master secret; not a setting, because its content is no setting.
    static let masterSecretFile = "POSTERN_MASTER_SECRET_FILE"
    private static let documentedIssuer = "JWT_ISSUER"
    private static let issuerVariable = "POSTERN_HASH_LOGIN_ISSUER"
    private static let fileSuffix = "_FILE"

    /// - Parameters:
    ///   - variables: the whole environment.
    ///   - readFile: a file's text, or why there is none.
    static func layer(
        of variables: [String: String], readFile: (String) throws(FileFault) -> String
    ) -> Layer {
        var layer = Layer()
        let keys = Dictionary(uniqueKeysWithValues: Config.settings.map { ($0.variable, $0.key) })
        // The name under which the hash-login surface is documented.
        if let issuer = variables[documentedIssuer], variables[issuerVariable] == nil {
            layer.entries["hash_login.issuer"] = Layer.Entry(
                raw: .untyped(issuer), source: .variable(documentedIssuer))
        }
        for name in variables.keys.sorted() where name.hasPrefix(Setting.variablePrefix) {
            guard let value = variables[name], name != masterSecretFile else { continue }
            if let key = keys[name] {
                layer.entries[key] = Layer.Entry(raw: .untyped(value), source: .variable(name))
            } else if name.hasSuffix(fileSuffix),
                let key = keys[String(name.dropLast(fileSuffix.count))]
            {
                add(key, fileVariable: name, path: value, to: &layer, readFile)
            } else {
                let near = name.nearest(among: Array(keys.keys) + [masterSecretFile])
                layer.refuse(
                    name, at: .variable(name), "no such setting",
                    near.map { "did you mean \($0)?" }
                        ?? "`postern check-config` lists the settings")
            }
        }
        return layer
    }

    private static func add(
        _ key: String, fileVariable: String, path: String, to layer: inout Layer,
        _ readFile: (String) throws(FileFault) -> String
    ) {
        let source = Source.secretFile(variable: fileVariable, path: path)
        if let other = layer.entries[key] {
            layer.refuse(key, at: source, "is also set by \(other.source.shown)", "set one of them")
            return
        }
        do throws(FileFault) {
            var text = try readFile(path)
            // Editors and `echo` end a file with a newline that nobody means.
            if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
            layer.entries[key] = Layer.Entry(raw: .untyped(text), source: source)
        } catch {
            layer.refuse(key, at: source, "cannot be read: \(error)", "give a readable file")
        }
    }
}
