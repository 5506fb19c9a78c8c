/// A connection that had to begin with a PROXY protocol header, and did not or came from a peer that
/// is not a trusted proxy. It is closed without a response: the peer may not speak HTTP.
public struct ProxyHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable {
        case untrustedPeer = "the peer is not a trusted proxy"
        case missing = "the connection does not begin with one"
        case badLine = "its line is not PROXY, TCP4 or TCP6, two addresses and two ports"
        case badAddress = "its addresses or ports are not valid"
        case badVersion = "its version is neither 1 nor 2"
        case badCommand = "its command is neither LOCAL nor PROXY"
        case badFamily = "its address family or transport is not that of a stream connection"
        case tooLong = "it is too long"
        /// The connection was closed, or the deadline passed, before the end of the header.
        case truncated = "it is incomplete"
    }

    public let peer: PeerAddress
    public let reason: Reason

    public var description: String {
        "closed the connection of \(peer), which needs a PROXY protocol header: \(reason.rawValue)"
    }
}
