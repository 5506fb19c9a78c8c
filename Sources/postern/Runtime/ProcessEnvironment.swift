internal import Glibc

/// What the process was started with.
enum ProcessEnvironment {
    /// The environment; of a name given twice the first counts, as for `getenv`.
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                let name = String(text[..<equals])
                if variables[name] == nil {
                    variables[name] = String(text[text.index(after: equals)...])
                }
            }
            next += 1
        }
        return variables
    }
}
