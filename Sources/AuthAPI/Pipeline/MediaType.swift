internal import HTTPEngine

extension HeaderFields {
    /// The media type of each `Content-Type` without its parameters, lower case (RFC 9110 §8.3.1).
    var mediaTypes: [String] {
        all("content-type").map { value in
            // White space is allowed around the type, not inside it.
            var type = value.prefix { $0 != ";" }.drop { $0 == " " || $0 == "\t" }
            while type.last == " " || type.last == "\t" { type.removeLast() }
            return type.lowercased()
        }
    }

    /// The media type of the first `Content-Type`; `nil` when there is none.
    var mediaType: String? { mediaTypes.first }
}
