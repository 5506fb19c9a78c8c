/// What an operator lets strangers have fetched, and how much of it.
public struct FetchRules: Sendable {
    public enum Ports: Sendable, Equatable {
        case any
        /// Beside the scheme's own port.
        case only(Set<UInt16>)
    }

    public var allowsHTTP: Bool
    public var allowsPrivateNetworks: Bool
    public var ports: Ports
    /// PEM certificates to trust in place of the system's.
    public var certificateFile: String?
    /// `postern/1.0`: who asks, for the logs of whoever is asked.
    public var userAgent: String
    public var limits: FetchLimits

    public init(
        allowsHTTP: Bool = false, allowsPrivateNetworks: Bool = false, ports: Ports = .only([]),
        certificateFile: String? = nil, userAgent: String = "postern",
        limits: FetchLimits = FetchLimits()
    ) {
        self.allowsHTTP = allowsHTTP
        self.allowsPrivateNetworks = allowsPrivateNetworks
        self.ports = ports
        self.certificateFile = certificateFile
        self.userAgent = userAgent
        self.limits = limits
    }

    var addresses: AddressRules { AddressRules(allowsPrivateNetworks: allowsPrivateNetworks) }
}

/// How much a fetch may take, and all fetches together.
public struct FetchLimits: Sendable {
    /// Of the body; an octet more fails the fetch.
    public var bodyOctets = 4096
    /// Of status lines and header fields, interim answers included.
    public var headOctets = 16_384
    /// At once for one host.
    public var perHost = 2
    /// Waiting for one host; beyond that callers are turned away.
    public var waitingPerHost = 16
    /// Transfers at once. Each has a thread, and Dispatch has 255 for the whole process.
    public var transfers = 64
    /// Name lookups at once. One may outlast its fetch, so they have threads of their own.
    public var lookups = 16
    /// Fetches waiting for a transfer's thread, and as many for a lookup's or a host's turn.
    public var waiting = 256

    public init() {}
}
