/// The header fields that tell browsers to be strict. Every response has them: a response that is
/// not a page may be opened as one.
public enum SecurityFields {
    /// - Parameter publicURL: the URL that clients use for this server.
    /// - Returns: the fields for ``HTTPEngine``. A page replaces the policy by one of its own.
    public static func all(publicURL: String) -> [(name: String, value: String)] {
        var fields = [
            (name: "X-Content-Type-Options", value: "nosniff"),
            (
                name: "Content-Security-Policy",
                value: "default-src 'none'; frame-ancestors 'none'"
            ),
        ]
        // RFC 6797. One year, without subdomains: they may be other servers.
        if isHTTPS(publicURL) {
            fields.append((name: "Strict-Transport-Security", value: "max-age=31536000"))
        }
        return fields
    }

    static func isHTTPS(_ url: String) -> Bool { url.utf8.starts(with: "https://".utf8) }
}
