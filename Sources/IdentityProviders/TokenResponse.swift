internal import StrictJSON

/// The answer to a code (RFC 6749 §5).
struct TokenResponse {
    let accessToken: String
    /// `nil` from a server without OpenID Connect.
    let idToken: String?

    /// - Throws: ``ProviderError/invalid(_:)``. GitHub answers 200 to a wrong code, with an error
    ///   as the others have it.
    init(status: Int, _ body: [UInt8]) throws(ProviderError) {
        guard status < 500 else { throw .unavailable("the token endpoint answered \(status)") }
        let members = try JSONObject(body, of: "the token response")
        if let code = members.string("error") {
            throw .invalid("the token endpoint answered \(code.errorCode)")
        }
        guard status == 200 else { throw .invalid("the token endpoint answered \(status)") }
        guard let token = members.string("access_token"), token.isFieldValue,
            members.string("token_type")?.lowercased() == "bearer"
        else { throw .invalid("the token response has no bearer token") }
        accessToken = token
        idToken = members.string("id_token")
    }
}

extension String {
    /// An error code of a provider, for the log: visible ASCII, at most 64 bytes.
    var errorCode: String {
        let bytes = utf8.prefix(64).filter { (0x21...0x7e).contains($0) }
        return bytes.isEmpty ? "an error" : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether it can be sent in a header field.
    fileprivate var isFieldValue: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
