internal import AuthCore
internal import HTTPEngine

/// The cookie that binds a sign-in at an identity provider to the browser that began it. Without
/// it, an attacker could have somebody else's browser end a sign-in of the attacker's (login CSRF,
/// RFC 6749 §10.12), or of the attacker's link.
struct SignInCookie: Sendable {
    private let name: String
    private let attributes: String
    private let host: PublicHost

    init(publicURL: String) {
        // The provider's page sends the browser back, so the cookie is not `Strict`. Browsers take
        // one with this prefix only from this very host, over https (RFC 6265bis §4.1.3.2): no
        // other site, also no sibling, can set it.
        let isHTTPS = SecurityFields.isHTTPS(publicURL)
        name = (isHTTPS ? "__Host-" : "") + "postern_sign_in"
        attributes = "HttpOnly; Secure; SameSite=Lax; Path=\(isHTTPS ? "/" : "/api/user/oauth")"
        host = PublicHost(publicURL: publicURL)
    }

    /// A later sign-in replaces an earlier one of the same browser.
    func storing(_ begun: ProviderLogins.Begun, for request: Request) -> [(String, String)] {
        guard host.isNamed(by: request) else { return [] }
        let seconds = begun.lifetime.components.seconds
        return [("Set-Cookie", "\(name)=\(begun.token); Max-Age=\(seconds); \(attributes)")]
    }

    var cleared: [(String, String)] {
        [("Set-Cookie", "\(name)=; Max-Age=0; \(attributes)")]
    }

    func token(of request: Request) -> String? {
        host.isNamed(by: request) ? request.cookie(named: name) : nil
    }
}
