/// A text with `{{name}}` where a value goes.
enum Template {
    /// - Returns: the text with every placeholder replaced. A name without a value is our own
    ///   mistake and traps at start, where it is built.
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
