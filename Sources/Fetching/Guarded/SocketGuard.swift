internal import CCurl

/// Opens the socket of one transfer, or refuses to: the last look at the address, when nothing can
/// change it any more. On that transfer's thread only.
final class SocketGuard {
    private(set) var refused: IPAddress?
    private let pinned: Set<IPAddress>
    private let rules: AddressRules

    /// - Parameter pinned: the addresses that were looked up and found allowed.
    init(pinned: [IPAddress], rules: AddressRules) {
        self.pinned = Set(pinned)
        self.rules = rules
    }

    /// For libcurl to give back; lives as long as this object.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// - Parameter context: what ``context`` was.
    static func from(_ context: UnsafeMutableRawPointer?) -> SocketGuard {
        guard let context else { preconditionFailure("libcurl lost the context it was given") }
        return Unmanaged<SocketGuard>.fromOpaque(context).takeUnretainedValue()
    }

    /// - Returns: a descriptor, or libcurl's word for none.
    func open(_ peer: UnsafePointer<curl_sockaddr>?) -> Int32 {
        guard let peer, let address = IPAddress(postern_curl_peer(peer)) else { return -1 }
        guard pinned.contains(address), rules.allows(address) else {
            refused = address
            return -1
        }
        return postern_curl_open_socket(peer)
    }
}
