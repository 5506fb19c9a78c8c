public import Networking

/// Whether connections begin with a PROXY protocol header, of version 1 or 2.
public enum ProxyProtocol: String, CaseIterable, Sendable {
    case off
    /// Every connection does. One whose peer is not a trusted proxy, or without a valid header, is
    /// closed without a response.
    case required
}

/// The reverse proxies that may name the client of a request or of a connection.
public struct TrustedProxies: Sendable {
    /// Their addresses. Empty means that the client is always the peer of the connection.
    public var addresses: [IPBlock] = [] {
        // As the addresses of clients are.
        didSet { addresses = addresses.map(\.unmapped) }
    }
    /// The header field in which they name the client of a request. The connection is still the
    /// proxy's, and not limited.
    public var forwardedHeader = ForwardedHeader.xForwardedFor
    /// Whether they name the client of a connection before its first request.
    public var proxyProtocol = ProxyProtocol.off

    public init() {}

    func contain(_ address: IPAddress) -> Bool {
        addresses.contains { $0.contains(address) }
    }
}

/// The header field in which proxies name the client. A server reads only one of the two, because a
/// proxy that writes one of them passes on the other as the client sent it.
public enum ForwardedHeader: String, CaseIterable, Sendable {
    case xForwardedFor = "x-forwarded-for"
    /// RFC 7239.
    case forwarded
}
