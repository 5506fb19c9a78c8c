/// Why a connection ended before its first request, where proxies have to say whom they speak for.
/// It is closed without an answer: what it speaks may not be HTTP.
public enum ProxyHeaderError: String, Error, Hashable, Sendable {
    /// The peer is none of the trusted proxies.
    case untrustedPeer = "it is none of the trusted proxies"
    case missing = "it begins with something else"
    case badLine = "its line is not PROXY, TCP4 or TCP6, two addresses and two ports"
    case badAddress = "its addresses or ports cannot be read"
    case badVersion = "it is neither of version 1 nor 2"
    case badCommand = "its command is neither LOCAL nor PROXY"
    case badFamily = "its address family or transport is not a connection's"
    case tooLong = "it is too long"
    /// Closed or out of time in the middle of it.
    case truncated = "it did not come whole"
}

/// A peer that did not say, or could not be believed, whom it speaks for. The operator's to mend.
public struct ProxyHeaderFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let peer: PeerAddress
    public let reason: ProxyHeaderError

    public var description: String {
        "closed \(peer), whose PROXY protocol header was required: \(reason.rawValue)"
    }
}
