public import AuthCore

/// The sender of all messages: an email, with a name or without one.
public struct MailAddress: Equatable, Sendable {
    /// Printable ASCII without quotation marks, backslashes and angle brackets.
    public let name: String?
    public let email: Email

    /// - Parameter text: `postern@example.com` or `Postern <postern@example.com>`.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        guard text.utf8.last == UInt8(ascii: ">"),
            let open = text.utf8.firstIndex(of: UInt8(ascii: "<"))
        else {
            guard let email = Email(parsing: text) else { return nil }
            name = nil
            self.email = email
            return
        }
        let name = text.utf8[..<open].drop { $0 == 0x20 }
        let end = name.lastIndex { $0 != 0x20 }.map { name.index(after: $0) } ?? name.startIndex
        let inner = text.utf8[text.utf8.index(after: open)...].dropLast()
        guard (1...100).contains(name[..<end].count),
            !name.contains(where: { "\"\\<>".utf8.contains($0) }),
            let email = Email(parsing: String(Substring(inner)))
        else { return nil }
        self.name = String(Substring(name[..<end]))
        self.email = email
    }

    /// As ``init(_:)`` reads it.
    public var text: String { name.map { "\($0) <\(email)>" } ?? email.text }

    /// The value of the field From (RFC 5322 §3.4).
    var field: String { name.map { "\"\($0)\" <\(email)>" } ?? email.text }
}
