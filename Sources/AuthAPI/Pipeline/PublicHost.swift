internal import HTTPEngine
internal import Networking

/// The host of the public URL. Pages and cookies are for requests to this host only.
///
/// Another site can make its own name resolve to this server (DNS rebinding). For the browser the
/// site and this server are then the same origin, but `Host` still contains the site's name.
struct PublicHost: Sendable {
    private let name: String
    /// Whether the public URL is on this machine. Then every numeric host and `localhost` is
    /// allowed, because no other site can have such a name.
    private let isLocal: Bool

    /// - Parameter publicURL: in lower case, `http` or `https`.
    init(publicURL: String) {
        let scheme = SecurityFields.isHTTPS(publicURL) ? "https://" : "http://"
        let authority = publicURL.utf8.dropFirst(scheme.utf8.count)
            .prefix { $0 != UInt8(ascii: "/") }
        name = Self.host(String(Substring(authority)))
        isLocal = name == "localhost" || IPAddress(name)?.isPrivateNetwork ?? false
    }

    /// `nil` where the public URL has an address, or `localhost`, in place of a name.
    var hostName: String? { name == "localhost" || IPAddress(name) != nil ? nil : name }

    /// Whether the request names this host. The port does not matter, as for cookies. A request
    /// without `Host` is not from a browser.
    func isNamed(by request: Request) -> Bool {
        guard let value = request.headers.values("host").first else { return true }
        let host = Self.host(value.lowercased)
        return host == name || isLocal && (host == "localhost" || IPAddress(host) != nil)
    }

    /// Whether no other site can have the host of the request: the public URL has it, it is an
    /// address, it has no dot, or its top-level domain is not delegated (RFC 6761, RFC 6762; ICANN
    /// keeps `internal` for private use). For the names that machines and containers have in
    /// private networks.
    func isPrivate(in request: Request) -> Bool {
        guard !isNamed(by: request), let value = request.headers.values("host").first else {
            return true
        }
        let host = Self.host(value.lowercased)
        let labels = host.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count == 1 || IPAddress(host) != nil
            || Self.reservedDomains.contains(String(Substring(labels[labels.count - 1])))
    }

    private static let reservedDomains: Set = [
        "example", "internal", "invalid", "local", "localhost", "test",
    ]

    /// A page that is shown under this host only.
    func route(_ path: String, _ page: Response) -> Route {
        Route(.get, path) { request in
            isNamed(by: request)
                ? page
                : .text(
                    "The pages of this server have another host name.\n",
                    status: .misdirectedRequest)
        }
    }

    /// `host[:port]` without the port, and an IPv6 address without its brackets.
    private static func host(_ authority: String) -> String {
        let bytes = authority.utf8
        guard bytes.first == UInt8(ascii: "[") else {
            return String(Substring(bytes.prefix { $0 != UInt8(ascii: ":") }))
        }
        return String(Substring(bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") }))
    }
}
