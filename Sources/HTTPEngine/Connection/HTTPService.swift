/// What answers the requests of a listener.
public struct HTTPService: Sendable {
    public internal(set) var router: Router
    public let proxies: TrustedProxies
    /// Whether its connections are limited, and count among those of all listeners. Where they do
    /// not, clients of other listeners cannot use up its connections.
    public let limitsConnections: Bool

    public init(
        router: Router, proxies: TrustedProxies = TrustedProxies(), limitsConnections: Bool = true
    ) {
        self.router = router
        self.proxies = proxies
        self.limitsConnections = limitsConnections
    }
}
