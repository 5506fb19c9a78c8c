internal import AuthCore
internal import HTTPEngine

/// The cookie in which a browser stores a Pro JWT. It is read only under `/api/user`, and only when
/// the request has no `Authorization`.
enum SessionCookie {
    static let name = "postern_session"
    private static let attributes = "HttpOnly; Secure; SameSite=Strict; Path=/api/user"

    /// The value of `Set-Cookie` that stores `token`.
    static func storing(_ token: String) -> String { "\(name)=\(token); \(attributes)" }

    /// The value of `Set-Cookie` that removes it.
    static var cleared: String { "\(name)=; Max-Age=0; \(attributes)" }
}

extension Request {
    /// The token of a request under `/api/user`, and whether it came as a cookie.
    var userToken: (token: String?, isCookie: Bool) {
        guard hasNoToken else { return (presentedToken, false) }
        let values = headers.values("cookie").flatMap { $0.parts(separatedBy: ";") }
            .compactMap { $0.trimmed.dropping(prefix: "\(SessionCookie.name)=") }
        // With two cookies of this name, another site may have set one of them. Neither is used.
        guard values.count == 1, let value = values.first, !value.isEmpty else {
            return (nil, false)
        }
        return (value.text, true)
    }
}
