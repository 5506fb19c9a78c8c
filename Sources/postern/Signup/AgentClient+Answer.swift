internal import Fetching
internal import StrictJSON

extension AgentClient {
    /// A success of the agent surface.
    struct Answer {
        let body: JSONObject
        private let response: FetchedResponse

        /// - Throws: ``ServerRefusal`` for any status that is no success.
        init(_ response: FetchedResponse) throws {
            guard (200..<300).contains(response.status) else { throw ServerRefusal(response) }
            guard let body = (try? JSONValue.parse(response.body))?.object else {
                throw ServerRefusal.notOurs(response)
            }
            self.body = body
            self.response = response
        }

        /// The token of the `Authorization` header.
        func token() throws -> String {
            let scheme = "Bearer "
            guard let value = response.header("Authorization"), value.hasPrefix(scheme) else {
                throw ServerRefusal.notOurs(response)
            }
            return String(value.dropFirst(scheme.count))
        }

        func string(_ name: String) throws -> String {
            guard let text = body.present(name)?.string else {
                throw ServerRefusal.notOurs(response)
            }
            return text
        }
    }
}

/// What the server said instead of doing it, in its own words: made fit for a terminal here.
struct ServerRefusal: Error, Equatable, CustomStringConvertible {
    let status: Int
    let message: String
    var hint: String?
    var documentation: String?

    /// Reads the agent surface's error shape, and makes do where there is another.
    init(_ response: FetchedResponse) {
        let error = (try? JSONValue.parse(response.body))?.object?["error"]?.object
        status = response.status
        message = (error?["message"]?.string ?? "no explanation").printable()
        hint = error?["hint"]?.string?.printable()
        documentation = error?["docs_url"]?.string?.printable()
    }

    private init(status: Int, message: String, hint: String) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    static func notOurs(_ response: FetchedResponse) -> ServerRefusal {
        ServerRefusal(
            status: response.status, message: "the answer is not one of the agent surface",
            hint: "Check that --server is the base URL of a mail-auth server.")
    }

    var description: String {
        var lines = ["the server refused (\(status)): \(message)"]
        if let hint { lines.append("  hint: \(hint)") }
        if let documentation { lines.append("  see:  \(documentation)") }
        return lines.joined(separator: "\n")
    }
}
