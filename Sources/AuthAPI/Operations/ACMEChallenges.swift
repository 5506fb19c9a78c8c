internal import HTTPEngine

/// The files by which an authority checks that this server has its name (RFC 8555 §8.3), as certbot
/// writes them into a web root. Not rate limited: authorities ask from several addresses at once.
public struct ACMEChallenges: Sendable {
    private static let nameBytes = 1...128

    private let errors: AgentErrors
    private let file: @Sendable (String) -> [UInt8]?

    /// - Parameter file: the content of the file of a challenge; nil where there is none. Called on
    ///   the loop, with names of letters, digits, `-` and `_` only.
    public init(agent: AgentAPI, file: @escaping @Sendable (String) -> [UInt8]?) {
        errors = agent.errors
        self.file = file
    }

    var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/.well-known/acme-challenge"], errors: errors.renderer,
            routes: [Route(.get, "/.well-known/acme-challenge/{name}") { answer($0) }])
    }

    private func answer(_ request: Request) -> Response {
        guard let name = request.parameters["name"], Self.isName(name), let content = file(name)
        else { return .text("No such challenge.\n", status: .notFound) }
        return Response(
            status: .ok, headers: [("Content-Type", "application/octet-stream")], body: content)
    }

    /// base64url, as the name of every challenge is (RFC 8555 §8.1).
    private static func isName(_ name: String) -> Bool {
        nameBytes.contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
