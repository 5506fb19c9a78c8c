internal import Glibc

/// Looks up the addresses of host names by the system's resolver: `/etc/hosts`, the DNS, and
/// whatever else the machine is set up for.
public enum NameLookup {
    /// Blocks the thread for as long as the resolver takes, which may be many seconds.
    ///
    /// - Returns: every address of the name, each once, in the resolver's order; at least one.
    public static func addresses(of name: String) throws(NameLookupError) -> [IPAddress] {
        // getaddrinfo reads up to a NUL.
        guard !name.utf8.contains(0) else { throw .noAddress }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &first)
        guard code == 0 else { throw NameLookupError(code: code) }
        defer { freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = first
        while let entry = next?.pointee {
            let bytes = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            // An address of an unknown family is not left out, because callers check every address
            // and must get all of them.
            guard let socket = SocketAddress(sockaddr: bytes) else {
                throw NameLookupError(code: EAI_FAMILY)
            }
            if !found.contains(socket.address) { found.append(socket.address) }
            next = entry.ai_next
        }
        guard !found.isEmpty else { throw .noAddress }
        return found
    }
}

/// Why a name has no addresses: the resolver's reason.
public struct NameLookupError: Error, Equatable, CustomStringConvertible {
    /// One of the `EAI_…` numbers of getaddrinfo(3).
    public let code: Int32

    /// The name has no address.
    public static let noAddress = NameLookupError(code: EAI_NONAME)

    public init(code: Int32) {
        self.code = code
    }

    public var description: String { String(cString: gai_strerror(code)) }
}
