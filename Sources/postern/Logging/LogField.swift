/// A field of the log that OpenTelemetry's semantic conventions name.
struct LogField: Sendable {
    /// In JSON.
    let name: StaticString
    /// The name in text, for people; `nil` if another field has the same information.
    let shortName: StaticString?

    static let method = LogField(name: "http.request.method", shortName: "method")
    static let route = LogField(name: "http.route", shortName: "route")
    static let status = LogField(name: "http.response.status_code", shortName: "status")
    static let bytes = LogField(name: "http.response.size", shortName: "bytes")
    static let client = LogField(name: "client.address", shortName: "client")
    /// The text of an error; ``errorType`` is its kind.
    static let error = LogField(name: "exception.message", shortName: "error")
    /// The type of an error, or the status of a request that failed.
    static let errorType = LogField(name: "error.type", shortName: nil)
}
