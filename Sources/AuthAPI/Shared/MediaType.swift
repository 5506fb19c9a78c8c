internal import HTTPEngine

extension HeaderFields {
    /// What each `Content-Type` says without its parameters, lower case.
    var mediaTypes: [String] {
        all("content-type").map { value in
            value.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        }
    }

    /// What the first `Content-Type` says so; `nil` when there is none.
    var mediaType: String? { mediaTypes.first }
}
