public import Networking
public import Scheduling

/// Which of the URLs that clients name may be fetched, and the limits of a fetch.
public struct FetchRules: Sendable {
    /// The ports that a URL may name.
    public enum Ports: Sendable, Equatable {
        case any
        /// In addition to the scheme's own port.
        case only(Set<UInt16>)
    }

    public var allowsHTTP: Bool
    public var allowsPrivateNetworks: Bool
    public var ports: Ports
    /// PEM certificates to trust in place of the system's.
    public var certificateFile: String?
    /// For the logs of the hosts, such as `postern/1.0`.
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

    /// Whether a client's URL may lead to `address`. Globally reachable addresses are allowed, and
    /// private networks only if the operator allows them. Link-local addresses are never allowed,
    /// because clouds serve their instances' credentials there. IPv6 forms that contain an IPv4
    /// address are never allowed either.
    public func allows(_ address: IPAddress) -> Bool {
        address.isGloballyReachable || allowsPrivateNetworks && address.isPrivateNetwork
    }
}

/// Limits of one fetch, and of all fetches together.
public struct FetchLimits: Sendable {
    /// A longer body fails the fetch.
    public var bodyBytes = 4096
    /// Status lines and header fields, those of interim responses included.
    public var headBytes = 16_384
    /// Fetches at once from one target: a host name, and the address that is connected to (an IPv4
    /// address, or an IPv6 /64).
    public var perTarget = 2
    /// Fetches at once from one target for one site.
    public var perTargetAndSite = Int.max
    /// Fetches at once for one client.
    public var perClient = Int.max
    /// Fetches at once for one site.
    public var perSite = Int.max
    /// Connections that are kept open for posts.
    public var idle = 16
    /// Fetches that may wait for each of these.
    public var waitingPerSlot = 16
    /// Transfers at once. Each has a thread, and Dispatch has 255 for the whole process.
    public var transfers = 64
    /// Name look-ups at once. One may take longer than its fetch, so they have their own threads.
    public var lookups = 32
    /// Fetches that may wait for a transfer's thread; as many again for a look-up's thread, and for
    /// a slot of each kind.
    public var waiting = 256
    /// How many transfers, and how many look-ups, of one client or site may run or wait.
    public var shares = WorkerPool.Shares.ofLanes

    public init() {}
}
