internal import Cryptography
internal import HTTPEngine

extension Request {
    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1).
    ///
    /// `nil` if there is no such header, another scheme, or nothing after the scheme. Also `nil` if
    /// there are several `Authorization` fields, because it is not clear which one counts.
    var bearerToken: String? { credentials(of: "bearer").map { String(Substring($0)) } }

    /// The user name and the password of `Authorization: Basic …` (RFC 7617 §2); `nil` as for
    /// ``bearerToken``, and when they cannot be decoded.
    var basicCredentials: (user: String, password: [UInt8])? {
        guard let bytes = credentials(of: "basic").flatMap({ Base64.decode($0) }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (
            String(decoding: bytes[..<colon], as: UTF8.self), Array(bytes[(colon + 1)...])
        )
    }

    /// The text after the scheme in `Authorization`.
    /// - Parameter scheme: in lower case.
    private func credentials(of scheme: String) -> Substring.UTF8View? {
        let values = headers.all("authorization")
        guard values.count == 1, let value = values.first else { return nil }
        guard value.utf8.count > scheme.utf8.count + 1,
            zip(value.utf8, scheme.utf8).allSatisfy({ $0 | 0x20 == $1 }),
            value.utf8.dropFirst(scheme.utf8.count).first == UInt8(ascii: " ")
        else { return nil }
        let text = value.utf8.dropFirst(scheme.utf8.count).drop { $0 == UInt8(ascii: " ") }
        return text.isEmpty ? nil : text
    }

    /// Whether there is no `Authorization`, or one without a token, which counts as none.
    var hasNoToken: Bool {
        headers.values("authorization").allSatisfy { $0.trimmed.equalsIgnoringCase("bearer") }
    }

    /// Whether anything was sent that could be a credential.
    var hasCredentials: Bool { !hasNoToken || headers.contains("cookie") }

    /// Like ``bearerToken``, but a header without a bearer token gives an empty token, which is
    /// invalid and not absent.
    var presentedToken: String? { hasNoToken ? nil : bearerToken ?? "" }
}

extension Request {
    /// Whether the browser says that a page of another origin caused the request
    /// (Fetch Metadata, `Sec-Fetch-Site`; RFC 6454 §7, `Origin`).
    var isCrossOrigin: Bool {
        let sites = headers.values("sec-fetch-site")
        if sites.contains(where: { !$0.equals("same-origin") && !$0.equals("none") }) {
            return true
        }
        let host = headers.first("host")
        return headers.values("origin").contains { origin in
            guard let host else { return true }
            return !origin.equalsIgnoringCase("http://\(host)")
                && !origin.equalsIgnoringCase("https://\(host)")
        }
    }

    /// Whether a page in a browser has caused the request, whatever its origin. A browser sends
    /// `Sec-Fetch-Site: none` for an address that a person has entered.
    var isFromPage: Bool {
        headers.contains("origin")
            || headers.values("sec-fetch-site").contains { !$0.equals("none") }
    }

    /// What the client says of itself (RFC 9110 §10.1.5).
    var userAgent: String? { headers.first("user-agent") }

    /// Whether the request changes something and comes from a page of another origin. A browser
    /// sends cookies and forms for requests of every page.
    var isCrossOriginWrite: Bool { method != .get && method != .head && isCrossOrigin }
}
