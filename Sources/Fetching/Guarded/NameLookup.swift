// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
internal import CCurl
internal import CResolver
internal import Glibc

/// Finds every address of a host name; blocks for as long as it takes.
public typealias NameLookup = @Sendable (_ name: String) throws(FetchFailure) -> [IPAddress]

/// The system's resolver: `/etc/hosts`, DNS, whatever the host is set up for.
enum SystemLookup {
    /// A lookup outlasts the fetch that wanted it, and lookups have few threads. Whoever runs a
    /// nameserver that is silent must not hold one for the system's ten seconds and more.
    private static let (tries, seconds): (Int32, Int32) = (2, 1)

    static func addresses(of name: String) throws(FetchFailure) -> [IPAddress] {
        guard cresolver_ask(tries, seconds) == 0 else { throw FetchFailure(.unresolvable) }
        defer { cresolver_forget() }
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
