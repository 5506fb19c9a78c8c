/// An account that has mail.
public struct MailAccount: Hashable, Sendable {
    public let id: String
    /// Its own address, without a sub-address.
    public let address: String

    public init(id: String, address: String) {
        self.id = id
        self.address = address
    }
}

/// Milliseconds since 1970-01-01T00:00:00Z.
public struct MailInstant: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public static func < (left: MailInstant, right: MailInstant) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

/// To whom an address belongs.
public enum AddressOwner: Hashable, Sendable {
    /// The address, or the address without its sub-address, is this account's.
    case account(MailAccount)
    /// On a domain of this server, but nobody's.
    case unknown
    /// On a domain of another server.
    case elsewhere
    /// It could not be looked up now.
    case unavailable
}
