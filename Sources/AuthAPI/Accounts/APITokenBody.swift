internal import AuthCore
internal import StrictJSON

/// The body of a request for an API token.
extension JSONBody {
    func apiTokenName() throws(Failure) -> String {
        let name = try string("name") ?? APIToken.defaultName
        guard (1...APIToken.maximumNameBytes).contains(name.utf8.count) else {
            throw .malformed("`name` must have 1 to \(APIToken.maximumNameBytes) bytes.")
        }
        return name
    }

    func apiTokenScopes() throws(Failure) -> Set<APIToken.Scope>? {
        guard let value = value("scopes") else { return nil }
        let scopes = value.array?.map { $0.string.flatMap(APIToken.Scope.init) }
        guard let scopes, !scopes.isEmpty, !scopes.contains(nil) else {
            throw .malformed("`scopes` must be a list of `accounts`, `domains` and `tokens`.")
        }
        return Set(scopes.compactMap { $0 })
    }

    func apiTokenLifetime() throws(Failure) -> Duration? {
        switch value("expires_in") {
        case nil: return nil
        case .integer(let seconds) where (60...315_360_000).contains(seconds):
            return .seconds(seconds)
        default: throw .malformed("`expires_in` must be 60 to 315,360,000 seconds.")
        }
    }
}

extension APIToken {
    static let defaultName = "API token"
}
