internal import Glibc

/// A server that answers questions about the DNS, by its numeric address.
public struct NameServer: Equatable, Sendable, CustomStringConvertible {
    static let standardPort: UInt16 = 53

    /// IPv4 or IPv6, in its usual form.
    public let host: String
    public let port: UInt16

    /// - Parameter text: `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`.
    /// - Returns: `nil` for anything else: names would have to be looked up themselves.
    public init?(_ text: String) {
        // A NUL would end the text early for the C library.
        guard text.utf8.count <= 64, !text.utf8.contains(0) else { return nil }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            self.init(
                family: AF_INET6, text[text.index(after: text.startIndex)..<end],
                port: rest.isEmpty ? nil : rest.dropFirst())
        } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
            self.init(
                family: AF_INET, text[..<colon], port: text[text.index(after: colon)...])
        } else {
            self.init(
                family: text.contains(":") ? AF_INET6 : AF_INET, text[...], port: nil)
        }
    }

    public var description: String {
        if port == Self.standardPort { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private init?(family: Int32, _ host: Substring, port: Substring?) {
        guard let number = port.map(Self.number) ?? Self.standardPort else { return nil }
        var octets = in6_addr()
        guard inet_pton(family, String(host), &octets) == 1 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, &octets, &text, socklen_t(text.count)) != nil else { return nil }
        self.host = String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.port = number
    }

    /// Digits only; not 0.
    private static func number(_ text: Substring) -> UInt16? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(text).flatMap { $0 > 0 ? $0 : nil }
    }
}
