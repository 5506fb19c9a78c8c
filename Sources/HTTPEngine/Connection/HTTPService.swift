/// The service that answers the requests of a listener.
public struct HTTPService: Sendable {
    public internal(set) var router: Router
    public let proxies: TrustedProxies
    /// Whether its connections are counted with those of other listeners of this kind. Those that
    /// are not have the same limits once more for themselves: neither clients of the one kind nor
    /// of the other can use up the connections of both.
    public let sharesLimits: Bool
    /// Whether clients of a listener without TLS use TLS nevertheless, because a proxy terminates
    /// it.
    public let isBehindTLS: Bool

    public init(
        router: Router, proxies: TrustedProxies = TrustedProxies(),
        sharesLimits: Bool = true, isBehindTLS: Bool = false
    ) {
        self.router = router
        self.proxies = proxies
        self.sharesLimits = sharesLimits
        self.isBehindTLS = isBehindTLS
    }
}
