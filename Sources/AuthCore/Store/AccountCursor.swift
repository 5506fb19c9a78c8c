internal import Cryptography

/// A position in the list of an owner's accounts, after the account that it names.
public struct AccountCursor: Equatable, Sendable {
    public let created: Instant
    public let id: AccountID

    public init(created: Instant, id: AccountID) {
        self.created = created
        self.id = id
    }

    /// - Returns: `nil` for a text that ``text`` does not give.
    public init?(_ text: String) {
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text.utf8) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 2, let created = Int64(parts[0]), String(created) == parts[0],
            let id = AccountID(parts[1])
        else { return nil }
        self.init(created: Instant(milliseconds: created), id: id)
    }

    /// Opaque to clients, and safe in a query string.
    public var text: String { Base64URL.encode(Array("\(created.milliseconds)/\(id)".utf8)) }
}
