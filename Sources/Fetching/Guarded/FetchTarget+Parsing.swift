extension FetchTarget {
    /// Reads `https://host[:port][/path][?query]` and nothing more lenient. A fragment is refused:
    /// it is never sent, and parsers disagree on what stands before it.
    ///
    /// - Throws: ``MalformedTarget``, whatever is wrong.
    public init(_ text: String, under rules: FetchRules) throws(MalformedTarget) {
        guard text.utf8.count <= Self.octetLimit,
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
        self.init(scheme: scheme, host: authority.host, port: port, resource: resource)
    }

    /// RFC 3986 §3.3 and §3.4: what may stand in a path or query, percent-encoding well-formed.
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

/// What stands between `//` and the path: no user info, and a port only after a colon.
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
            guard let address = IPAddress(canonical: String(host)), address.family == .v6 else {
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

    /// Whether a lenient parser (inet_aton, a browser) takes a host that ends so for an IPv4
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
