internal import Glibc

/// Finds every address of a host name; blocks for as long as it takes.
public typealias NameLookup = @Sendable (_ name: String) throws(FetchFailure) -> [IPAddress]

/// The system's resolver: `/etc/hosts`, DNS, whatever the host is set up for.
enum SystemLookup {
    static func addresses(of name: String) throws(FetchFailure) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else {
            throw FetchFailure(.unresolvable)
        }
        defer { freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = first
        while let entry = next?.pointee {
            // An address of a family we cannot judge is not one to leave out of the judging.
            guard let raw = entry.ai_addr, let address = IPAddress(raw) else {
                throw FetchFailure(.unresolvable)
            }
            found.append(address)
            next = entry.ai_next
        }
        return found
    }
}
