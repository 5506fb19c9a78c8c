/// A PostgreSQL database, as a URL that libpq reads (PostgreSQL's manual, "Connection URIs").
///
/// It may name several hosts. What it leaves out comes from libpq's environment variables, its
/// password file and its service file.
struct PostgresURL: Equatable, Sendable {
    /// As it was configured. May contain a password.
    let text: String

    private static let schemes = ["postgresql://", "postgres://"]
    private static let maximumBytes = 4000

    /// - Returns: `nil` for another scheme, and for a text with spaces or control characters.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes,
            Self.schemes.contains(where: { text.utf8.starts(with: $0.utf8) }),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return nil }
        self.text = text
    }

    /// Whether an attacker on the network could read the traffic or answer in the server's place: a
    /// host is on another machine, and the URL has no `sslmode=verify-full`. Other modes of libpq
    /// do not prevent this. libpq's environment variables are not checked.
    var isExposed: Bool {
        let parts = text.split(separator: "?", maxSplits: 1)
        let parameters = parts.dropFirst().flatMap { $0.split(separator: "&") }
        guard !parameters.contains("sslmode=verify-full") else { return false }
        // "postgresql:", "", then user, hosts and ports, then the database.
        let authority = parts[0].split(separator: "/", omittingEmptySubsequences: false)[2]
        let hosts = authority.split(separator: "@").last ?? ""
        let lists =
            [hosts]
            + parameters.filter { $0.hasPrefix("host") }
            .map { $0.drop { $0 != "=" }.dropFirst() }
        let local = ["/", "%2F", "%2f", "localhost", "127.", "[::1]"]
        return lists.flatMap { $0.split(separator: ",") }
            .contains { host in !local.contains { host.hasPrefix($0) } }
    }

    /// The URL without its passwords, for messages.
    var shown: String { Self.hidingPasswords(in: text) }

    /// Replaces everything that may be a password by `***`: between the first colon after the
    /// user's name and the last `@`, and the values of parameters with `password` in their names.
    ///
    /// Hides too much rather than too little, because a malformed URL may have its password at
    /// another place than libpq expects.
    static func hidingPasswords(in text: String) -> String {
        let bytes = Array(text.utf8)
        var out = bytes[...]
        let start = bytes.firstRange(of: "://".utf8)?.upperBound ?? 0
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")), start < at,
            let colon = bytes[start..<at].firstIndex(of: UInt8(ascii: ":"))
        {
            out = bytes[...colon] + Array("***".utf8) + bytes[at...]
        }
        let parts = out.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return parts.map { hidingValue(of: String(decoding: $0, as: UTF8.self)) }
            .joined(separator: "&")
    }

    private static func hidingValue(of parameter: String) -> String {
        let name = parameter.lowercased()
        guard let found = name.firstRange(of: "password") else { return parameter }
        let start = name.utf8.distance(from: name.startIndex, to: found.lowerBound)
        let equals = parameter.utf8.dropFirst(start).firstIndex(of: UInt8(ascii: "="))
        guard let equals else { return parameter }
        return String(decoding: parameter.utf8[...equals], as: UTF8.self) + "***"
    }
}
