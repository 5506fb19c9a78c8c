/// The service that answers the requests of a listener.
public struct HTTPService: Sendable {
    public internal(set) var router: Router
    public let proxies: TrustedProxies
    /// Whether its connections are limited and count for the total of all listeners. If not,
    /// clients of other listeners cannot use up its connections.
    public let limitsConnections: Bool
    /// Whether clients of a listener without TLS use TLS nevertheless, because a proxy terminates
    /// it.
    public let isBehindTLS: Bool

    public init(
        router: Router, proxies: TrustedProxies = TrustedProxies(),
        limitsConnections: Bool = true, isBehindTLS: Bool = false
    ) {
        self.router = router
        self.proxies = proxies
        self.limitsConnections = limitsConnections
        self.isBehindTLS = isBehindTLS
    }
}
