internal import HTTPEngine

extension HeaderFields {
    /// What each `Content-Type` says without its parameters, lower case (RFC 9110 §8.3.1).
    var mediaTypes: [String] {
        all("content-type").map { value in
            // White space may stand around it, and nowhere else.
            var type = value.prefix { $0 != ";" }.drop { $0 == " " || $0 == "\t" }
            while type.last == " " || type.last == "\t" { type.removeLast() }
            return type.lowercased()
        }
    }

    /// What the first `Content-Type` says so; `nil` when there is none.
    var mediaType: String? { mediaTypes.first }
}
