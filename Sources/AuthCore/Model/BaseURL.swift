internal import Networking

/// An `http` or `https` URL that paths are appended to: scheme, host, optional port and path,
/// without user information, query, fragment or trailing slash.
public struct BaseURL: Equatable, Sendable {
    public let text: String

    public init?(_ text: String) {
        let lowered = text.lowercased()
        guard text.utf8.count <= 1000, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let scheme = ["http://", "https://"].first(where: lowered.hasPrefix)
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path = path.dropLast() }
        guard Self.isAuthority(authority), path.utf8.allSatisfy(Self.isPathByte) else {
            return nil
        }
        self.text = "\(scheme)\(authority.lowercased())\(path)"
    }

    public var isHTTPS: Bool { text.hasPrefix("https://") }

    /// Scheme and authority, without the path.
    public var origin: String {
        let scheme = text.prefix(isHTTPS ? 8 : 7)
        return String(scheme + text.dropFirst(scheme.count).prefix { $0 != "/" })
    }

    /// The origin as browsers write it: without the default port of the scheme (RFC 6454 §6.2).
    public var browserOrigin: String {
        let defaultPort = isHTTPS ? ":443" : ":80"
        return origin.hasSuffix(defaultPort)
            ? String(origin.dropLast(defaultPort.count)) : origin
    }

    /// A name, or an address without brackets.
    public var host: String {
        let authority = text.dropFirst(isHTTPS ? 8 : 7).prefix { $0 != "/" }
        return String(
            authority.hasPrefix("[")
                ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" })
    }

    /// Whether its host is this machine, by number or as `localhost`.
    public var isLoopback: Bool {
        guard let address = IPAddress(host) else { return host == "localhost" }
        return address.isLoopback
    }

    private static func isAuthority(_ text: Substring) -> Bool {
        var host = text
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            let digits = text[text.index(after: colon)...]
            guard (1...5).contains(digits.utf8.count),
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
                (1...65_535).contains(port)
            else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("[") && host.hasSuffix("]") {
            return IPAddress(host.dropFirst().dropLast()).map { !$0.isIPv4 } ?? false
        }
        return Domain(parsing: String(host)) != nil
    }

    /// RFC 3986 §3.3: `pchar` and `/`, with the percent sign.
    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/-._~!$&'()*+,;=:@%".utf8.contains(byte)
        }
    }
}
