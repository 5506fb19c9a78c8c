public import Networking

/// A URL that may be fetched, parsed once. The URL that libcurl gets is built from the parts, so
/// that a second parser cannot find another host in the same text.
///
/// Guarantees: the rules that it was made with allow its scheme and port, and its host is in
/// canonical form. Nothing is known about the addresses of the host; see ``GuardedFetcher``.
public struct FetchTarget: Hashable, Sendable {
    public enum Scheme: String, Sendable {
        case https, http

        var port: UInt16 { self == .https ? 443 : 80 }
    }

    /// A name that is looked up for every fetch, or an address in canonical form.
    public enum Host: Hashable, Sendable {
        /// Labels of letters, digits and hyphens in lower case, without a dot at the end.
        case name(String)
        case address(IPAddress)
    }

    /// A longer text is malformed.
    public static let maxBytes = 2048

    public let scheme: Scheme
    public let host: Host
    public let port: UInt16
    /// Path and query, from the first `/`, as given.
    public let resource: String

    /// Reads `https://host[:port][/path][?query]` and nothing more lenient. A fragment is an error:
    /// it is never sent, and parsers disagree on where it begins.
    ///
    /// - Throws: ``MalformedTarget`` for every error.
    public init(_ text: String, under rules: FetchRules) throws(MalformedTarget) {
        // Only visible ASCII, so that a Character is one byte from here on.
        guard text.utf8.count <= Self.maxBytes,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let scheme = Scheme(of: text), scheme == .https || rules.allowsHTTP
        else { throw MalformedTarget() }
        let rest = text.dropFirst("\(scheme.rawValue)://".count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let resource = (rest[end...].hasPrefix("/") ? "" : "/") + rest[end...]
        guard Self.isResource(resource), let authority = Authority(rest[..<end].lowercased()),
            case let port = authority.port ?? scheme.port,
            port == scheme.port || rules.ports.allows(port)
        else { throw MalformedTarget() }
        self.scheme = scheme
        host = authority.host
        self.port = port
        self.resource = resource
    }

    /// With scheme and host in lower case, and the port only if it is not the scheme's own.
    public var url: String { origin + resource }

    /// Scheme, host and port. For logs: path and query may hold secrets.
    public var origin: String {
        let suffix = port == scheme.port ? "" : ":\(port)"
        return "\(scheme.rawValue)://\(host.text)\(suffix)"
    }

    /// RFC 3986 §3.3 and §3.4: the characters of a path and query, with valid percent-encoding.
    private static func isResource(_ text: String) -> Bool {
        var escaped = 0
        for byte in text.utf8 {
            if escaped > 0 {
                guard byte.isHexDigit else { return false }
                escaped -= 1
            } else if byte == UInt8(ascii: "%") {
                escaped = 2
            } else if !byte.isAlphanumeric, !"-._~!$&'()*+,;=:@/?".utf8.contains(byte) {
                return false
            }
        }
        return escaped == 0
    }
}

extension FetchTarget.Host {
    /// As in a URL.
    var text: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.isIPv4 ? "\(address)" : "[\(address)]"
        }
    }
}

extension FetchTarget.Scheme {
    fileprivate init?(of text: String) {
        let start = text.prefix(8).lowercased()
        if start == "https://" {
            self = .https
        } else if start.hasPrefix("http://") {
            self = .http
        } else {
            return nil
        }
    }
}

extension FetchRules.Ports {
    fileprivate func allows(_ port: UInt16) -> Bool {
        switch self {
        case .any: true
        case .only(let ports): ports.contains(port)
        }
    }
}

/// The part between `//` and the path: no user info, and a port only after a colon.
private struct Authority {
    let host: FetchTarget.Host
    let port: UInt16?

    /// - Parameter text: printable ASCII in lower case.
    init?(_ text: String) {
        let host: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard let address = IPAddress(canonical: String(host)), !address.isIPv4 else {
                return nil
            }
            self.host = .address(address)
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            rest = text[end...]
            guard let host = Self.host(text[..<end]) else { return nil }
            self.host = host
        }
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.hasPrefix(":"), let number = Self.port(rest.dropFirst()) else { return nil }
        port = number
    }

    private static func host(_ text: Substring) -> FetchTarget.Host? {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, let last = labels.last,
            labels.allSatisfy(isLabel)
        else { return nil }
        guard isNumeric(last) else { return .name(String(text)) }
        return IPAddress(canonical: String(text)).map(FetchTarget.Host.address)
    }

    /// RFC 1123 §2.1.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
    }

    /// Whether a lenient parser (inet_aton, a browser) reads a host with this end as an IPv4
    /// address: `127.1`, `2130706433`, `0x7f.0x1`.
    private static func isNumeric(_ label: Substring) -> Bool {
        label.utf8.allSatisfy(\.isDigit)
            || label.hasPrefix("0x") && label.dropFirst(2).utf8.allSatisfy(\.isHexDigit)
    }

    private static func port(_ digits: Substring) -> UInt16? {
        guard digits.first != "0", digits.utf8.allSatisfy(\.isDigit) else { return nil }
        return UInt16(digits)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }

    fileprivate var isAlphanumeric: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
