internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// The cookie in which a browser stores a Pro JWT. It is read only under `/api/user`, only when the
/// request has no `Authorization`, and only at the host of the public URL.
struct SessionCookie: Sendable {
    private static let attributes = "HttpOnly; Secure; SameSite=Strict; Path=/api/user"

    let name: String
    private let host: PublicHost

    init(publicURL: String) {
        // Browsers accept a cookie with this prefix only over https (RFC 6265bis §4.1.3.1), so an
        // attacker on the network cannot set one by http.
        name = (SecurityFields.isHTTPS(publicURL) ? "__Secure-" : "") + "postern_session"
        host = PublicHost(publicURL: publicURL)
    }

    /// The field that stores `token`.
    ///
    /// A request from a page of another origin gets no cookie. Otherwise the page could log its
    /// visitor in to an account of the attacker (login CSRF). `SameSite` does not prevent that for
    /// a page on a sibling domain.
    func storing(_ token: String, for request: Request) -> [(String, String)] {
        request.isCrossOrigin ? [] : storing(token, afterSignIn: request)
    }

    /// The field that stores `token` after a sign-in at an identity provider, whose page has sent
    /// the browser back. Only for a sign-in that this browser began (``SignInCookie``).
    func storing(_ token: String, afterSignIn request: Request) -> [(String, String)] {
        guard host.isNamed(by: request) else { return [] }
        return [("Set-Cookie", "\(name)=\(token); \(Self.attributes)")]
    }

    /// The answer to a login or a registration: the user and the token, which is stored, too.
    func response(
        _ status: Status, _ opened: UserSessions.Opened, to request: Request
    ) -> Response {
        .json(status, headers: storing(opened.token, for: request)) { body in
            body.member("user_id", opened.user.id.text)
            body.member("email", opened.user.email.text)
            body.member("plan", "pro")
            body.member("status", opened.user.state.rawValue)
            if status == .ok { body.member("downgraded", false) }
            body.member("token", opened.token)
        }
    }

    /// The field that removes it.
    var cleared: [(String, String)] {
        [("Set-Cookie", "\(name)=; Max-Age=0; \(Self.attributes)")]
    }

    /// The token of a request under `/api/user`, and whether it came as a cookie.
    func token(of request: Request) -> (token: String?, isCookie: Bool) {
        guard request.hasNoToken else { return (request.presentedToken, false) }
        guard let token = request.cookie(named: name), host.isNamed(by: request) else {
            return (nil, false)
        }
        return (token, true)
    }
}

extension Request {
    /// The value of a cookie; `nil` without one, and with several of this name: another site may
    /// have set one of them.
    func cookie(named name: String) -> String? {
        let values = headers.values("cookie").flatMap { $0.parts(separatedBy: ";") }
            .compactMap { $0.trimmed.dropping(prefix: "\(name)=") }
        guard values.count == 1, let value = values.first, !value.isEmpty else { return nil }
        return value.text
    }
}
