/// Counts how much of a shared resource each client and each site uses.
///
/// The table has entries only for clients and sites that use some of it, so the resource limits its
/// size.
public struct NetworkCounts: Sendable {
    /// A client and its site have blocks of different lengths, so one table holds both.
    private var held: [IPBlock: Int] = [:]

    public init() {}

    /// The use by the client of `address`, and by all clients of its site together.
    public func count(of address: IPAddress) -> (client: Int, site: Int) {
        (held[address.client, default: 0], held[address.site, default: 0])
    }

    /// Counts one more for the client of `address` and its site.
    public mutating func add(_ address: IPAddress) {
        held[address.client, default: 0] += 1
        held[address.site, default: 0] += 1
    }

    /// Undoes one ``add(_:)``.
    public mutating func remove(_ address: IPAddress) {
        for block in [address.client, address.site] {
            let rest = held[block, default: 1] - 1
            held[block] = rest == 0 ? nil : rest
        }
    }
}
