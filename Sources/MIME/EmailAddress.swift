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
