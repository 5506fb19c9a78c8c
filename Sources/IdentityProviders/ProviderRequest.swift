internal import Cryptography

/// A request to a provider, to be sent as it is and without following redirects.
public struct ProviderRequest: Sendable {
    /// `nil` for a GET.
    public let form: [UInt8]?
    public let url: String
    public let headers: [(name: String, value: String)]
    /// The longest response body in bytes.
    public let bodyLimit: Int

    static func get(
        _ url: String, atMost bodyLimit: Int, headers: [(name: String, value: String)] = []
    ) -> ProviderRequest {
        ProviderRequest(
            form: nil, url: url, headers: [("Accept", "application/json")] + headers,
            bodyLimit: bodyLimit)
    }

    /// With an access token (RFC 6750 §2.1).
    static func get(
        _ url: String, with token: String, atMost bodyLimit: Int
    ) -> ProviderRequest {
        get(url, atMost: bodyLimit, headers: [("Authorization", "Bearer \(token)")])
    }

    /// Exchanges a code for tokens (RFC 6749 §4.1.3).
    static func token(
        _ url: String, code: String, redirectURI: String, verifier: String,
        for settings: ProviderSettings, authenticating method: ClientAuthentication
    ) -> ProviderRequest {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
            ("code_verifier", verifier), ("client_id", settings.clientID),
        ]
        var headers = [
            ("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        let secret = String(decoding: settings.clientSecret.bytes, as: UTF8.self)
        switch method {
        case .post: fields.append(("client_secret", secret))
        case .basic:
            let pair = [settings.clientID, secret].map(FormText.encode).joined(separator: ":")
            headers.append(("Authorization", "Basic \(Base64.encode(Array(pair.utf8)))"))
        }
        return ProviderRequest(
            form: Array(FormText.encode(fields).utf8), url: url, headers: headers,
            bodyLimit: ProviderLimits.tokenResponse)
    }
}

/// How this server shows a provider that it is the client (RFC 6749 §2.3.1).
enum ClientAuthentication: String, Sendable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
}

/// Text in the form of `application/x-www-form-urlencoded`.
enum FormText {
    static func encode(_ fields: [(String, String)]) -> String {
        fields.map { "\($0)=\(encode($1))" }.joined(separator: "&")
    }

    /// Escapes everything but the unreserved characters (RFC 3986 §2.3), which is valid in forms
    /// and in queries.
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                out.append(byte)
            default:
                out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
