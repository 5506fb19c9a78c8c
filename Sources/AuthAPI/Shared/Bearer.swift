internal import HTTPEngine

extension Request {
    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1).
    ///
    /// Absent when there is no such header, another scheme, nothing after the scheme, or more than
    /// one `Authorization`, of which neither can be believed.
    var bearerToken: String? {
        let values = headers.all("authorization")
        guard values.count == 1, let value = values.first else { return nil }
        let scheme = "bearer"
        guard value.utf8.count > scheme.utf8.count + 1,
            value.utf8.prefix(scheme.utf8.count).map({ $0 | 0x20 }).elementsEqual(scheme.utf8),
            value.utf8.dropFirst(scheme.utf8.count).first == UInt8(ascii: " ")
        else { return nil }
        let token = value.utf8.dropFirst(scheme.utf8.count).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : String(Substring(token))
    }
}
