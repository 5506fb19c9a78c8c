/// A block of addresses, `192.0.2.0/24` or `2001:db8::/32`.
struct AddressBlock: Sendable, CustomStringConvertible {
    let first: IPAddress
    let length: Int

    /// - Parameter text: our own; what is no block, or has bits beyond its length, traps.
    init(_ text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let first = IPAddress(canonical: String(parts[0])),
            let length = Int(parts[1]), (0...first.family.bits).contains(length)
        else { preconditionFailure("\(text) is no address block") }
        self.first = first
        self.length = length
        precondition(first.number & hosts == 0, "\(text) has bits beyond its length")
    }

    var last: IPAddress { IPAddress(first.family, first.number | hosts) }

    func contains(_ address: IPAddress) -> Bool {
        address.family == first.family && address.number & ~hosts == first.number
    }

    var description: String { "\(first)/\(length)" }

    private var hosts: UInt128 { (1 << UInt128(first.family.bits - length)) &- 1 }
}
