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

    /// Whether there is no `Authorization`, or one without a token, which counts as none.
    var hasNoToken: Bool {
        headers.all("authorization").allSatisfy { value in
            value.lowercased().filter { $0 != " " && $0 != "\t" } == "bearer"
        }
    }

    /// As ``bearerToken``, but a header that is there and is no bearer token is a token that
    /// verifies as nothing, not an absent one.
    var presentedToken: String? { hasNoToken ? nil : bearerToken ?? "" }
}
