/// The header fields that make browsers strict. Every response has them, because a browser can open
/// any response as a page.
public enum SecurityFields {
    public typealias Fields = [(name: String, value: String)]

    /// The fields for ``HTTPEngine``. A page replaces the policy by its own.
    public static let all: Fields = [
        (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'"),
        // A page on a sibling domain counts as the same site, so the browser sends the session
        // cookie with what such a page loads. Whether a script or an image loads would tell it
        // whether its visitor is logged in.
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
    ]

    /// Additional fields for responses over TLS. RFC 6797 section 7.2 forbids them on other
    /// responses, where an attacker on the network could write them as well.
    /// - Parameter publicURL: the URL that clients use for this server.
    public static func overTLS(publicURL: String) -> Fields {
        guard isHTTPS(publicURL) else { return [] }
        return [
            // One year, without subdomains, because these may be other servers.
            (name: "Strict-Transport-Security", value: "max-age=31536000"),
            // A page that opens one of this server in a window cannot count its frames or navigate
            // it. Without TLS browsers ignore the field, with a complaint.
            (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
        ]
    }

    /// Which requests of a page say where they come from.
    enum ReferrerPolicy: String {
        /// With `no-referrer`, browsers send `Origin: null` with the forms of a page (Fetch,
        /// "append a request Origin header"), as with a form of another site.
        case sameOrigin = "same-origin"
        /// For a page whose URL has a secret, and whose requests are made by scripts only.
        case none = "no-referrer"
    }

    /// The header fields of a page for people. It may show tokens, so it is never stored.
    /// - Parameter policy: the page's `Content-Security-Policy`, instead of one that allows
    ///   nothing.
    static func page(
        allowing policy: String, referrer: ReferrerPolicy = .sameOrigin
    ) -> Fields {
        [
            ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
            (
                "Content-Security-Policy",
                "default-src 'none'; \(policy); form-action 'self'; base-uri 'none'; "
                    + "frame-ancestors 'none'"
            ),
            ("Referrer-Policy", referrer.rawValue),
        ]
    }

    static func isHTTPS(_ url: String) -> Bool { url.utf8.starts(with: "https://".utf8) }
}
