internal import CGMime

/// RFC 8621 §4.1.2.3.
public struct EmailAddress: Equatable, Sendable {
    /// The display name, decoded.
    public var name: String?
    /// An addr-spec, or what was written in its place.
    public var email: String

    public init(name: String? = nil, email: String) {
        self.name = name
        self.email = email
    }
}

/// RFC 8621 §4.1.2.4.
public struct AddressGroup: Equatable, Sendable {
    /// `nil` for mailboxes that are in no group.
    public var name: String?
    public var addresses: [EmailAddress]

    public init(name: String? = nil, addresses: [EmailAddress]) {
        self.name = name
        self.addresses = addresses
    }
}

extension AddressGroup {
    static func parse(_ value: UnsafePointer<CChar>) -> [AddressGroup] {
        guard let list = postern_gmime_parse_addresses(value) else { return [] }
        defer { postern_gmime_free_addresses(list) }
        var reader = AddressReader(left: MIMELimits.standard.listItems)
        reader.read(list)
        return reader.groups
    }
}

/// Copies GMime's list. Groups count as addresses, because they can be empty.
private struct AddressReader {
    var groups: [AddressGroup] = []
    var left: Int

    mutating func read(_ list: OpaquePointer) {
        for index in 0..<postern_gmime_count_addresses(list) where left > 0 {
            let name = displayName(list, index)
            if let members = postern_gmime_group_members(list, index) {
                left -= 1
                groups.append(AddressGroup(name: name ?? "", addresses: mailboxes(members)))
            } else if let address = mailbox(list, index) {
                if groups.last?.name != nil || groups.isEmpty {
                    groups.append(AddressGroup(addresses: []))
                }
                groups[groups.count - 1].addresses.append(address)
            }
        }
    }

    /// The mailboxes of a group. A group within it, which RFC 5322 does not allow, is left out.
    private mutating func mailboxes(_ list: OpaquePointer) -> [EmailAddress] {
        var found: [EmailAddress] = []
        for index in 0..<postern_gmime_count_addresses(list) where left > 0 {
            if let address = mailbox(list, index) { found.append(address) }
        }
        return found
    }

    private mutating func mailbox(_ list: OpaquePointer, _ index: Int32) -> EmailAddress? {
        guard let spec = postern_gmime_address_spec(list, index) else { return nil }
        left -= 1
        return EmailAddress(
            name: displayName(list, index),
            email: ASCII.withoutControls(String(cString: spec)))
    }

    private func displayName(_ list: OpaquePointer, _ index: Int32) -> String? {
        postern_gmime_address_name(list, index).map { ASCII.withoutControls(String(cString: $0)) }
            .flatMap { $0.isEmpty ? nil : $0 }
    }
}
