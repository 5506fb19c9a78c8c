/// Fills the placeholders of a text, which have the form `{{name}}`.
enum Template {
    /// Traps when a placeholder has no value. All templates are filled at start, so that such a
    /// mistake is found then.
    static func fill(_ template: [UInt8], _ values: [String: String]) -> String {
        var text = ""
        var rest = String(decoding: template, as: UTF8.self)[...]
        while let open = rest.firstRange(of: "{{") {
            text += rest[..<open.lowerBound]
            rest = rest[open.upperBound...]
            guard let close = rest.firstRange(of: "}}"),
                let value = values[String(rest[..<close.lowerBound])]
            else { preconditionFailure("a placeholder has no value") }
            text += value
            rest = rest[close.upperBound...]
        }
        return text + rest
    }
}
