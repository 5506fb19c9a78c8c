/// A URL that may be fetched, in parts: what libcurl is given is put together from them, so that
/// no second parser can read another host out of the same text.
///
/// Promises: the scheme, port and spelling were allowed by the rules it was made under. Says
/// nothing about where its name leads; see ``GuardedFetcher``.
public struct FetchTarget: Hashable, Sendable {
    public enum Scheme: String, Sendable {
        case https, http

        var port: UInt16 { self == .https ? 443 : 80 }
    }

    public enum Host: Hashable, Sendable {
        /// LDH labels in lower case, without a dot at the end.
        case name(String)
        case address(IPAddress)
    }

    public static let octetLimit = 2048

    public let scheme: Scheme
    public let host: Host
    public let port: UInt16
    /// Path and query, from the first `/`, as they were written.
    public let resource: String

    init(scheme: Scheme, host: Host, port: UInt16, resource: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.resource = resource
    }

    /// Scheme and host in lower case, the port only where it is not the scheme's own.
    public var url: String {
        let suffix = port == scheme.port ? "" : ":\(port)"
        return "\(scheme.rawValue)://\(host.text)\(suffix)\(resource)"
    }
}

extension FetchTarget.Host {
    /// As it stands in a URL.
    var text: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.family == .v4 ? address.text : "[\(address.text)]"
        }
    }
}
