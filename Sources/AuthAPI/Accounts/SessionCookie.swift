internal import AuthCore
internal import HTTPEngine

/// The browser's copy of a Pro JWT. Read only under `/api/user`, and only where there is no
/// `Authorization`.
enum SessionCookie {
    static let name = "postern_session"
    private static let attributes = "HttpOnly; Secure; SameSite=Strict; Path=/api/user"

    /// The value of `Set-Cookie` that hands out `token`.
    static func holding(_ token: String) -> String { "\(name)=\(token); \(attributes)" }

    /// The value of `Set-Cookie` that takes it back.
    static var cleared: String { "\(name)=; Max-Age=0; \(attributes)" }
}

extension Request {
    /// The token of a request under `/api/user`, and whether a browser sent it by itself.
    var userToken: (token: String?, isCookie: Bool) {
        guard hasNoToken else { return (presentedToken, false) }
        let cookies = headers.all("cookie").flatMap { $0.split(separator: ";") }
        let values = cookies.compactMap { cookie -> Substring? in
            let trimmed = cookie.drop { $0 == " " }
            guard trimmed.hasPrefix("\(SessionCookie.name)=") else { return nil }
            return trimmed.dropFirst(SessionCookie.name.count + 1)
        }
        // Two are a sign that somebody else planted one; neither can be believed.
        guard values.count == 1, let value = values.first, !value.isEmpty else {
            return (nil, false)
        }
        return (String(value), true)
    }

    /// A browser sends its cookie whoever made it send the request; a write must come from a page
    /// of this server's own origin, or from no page at all.
    /// - Throws: ``Refusal/forbidden``.
    func requireOwnOrigin() throws(Refusal) {
        guard method == .get || method == .head || !isForeign else { throw .forbidden }
    }

    /// Whether a browser says that a page of somebody else made it send this.
    var isForeign: Bool {
        if headers.all("sec-fetch-site").contains(where: { $0 != "same-origin" && $0 != "none" }) {
            return true
        }
        let host = headers.first("host")?.lowercased()
        return headers.all("origin").contains { origin in
            guard let host else { return true }
            return !["http://\(host)", "https://\(host)"].contains(origin.lowercased())
        }
    }
}
