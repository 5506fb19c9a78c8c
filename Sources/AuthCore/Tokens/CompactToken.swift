internal import Cryptography
internal import StrictJSON

/// The three parts of a JWS in compact form (RFC 7515 §7.1), decoded but not verified.
struct CompactToken {
    /// Longer tokens are invalid, and nothing of them is decoded. Tokens of this server are shorter
    /// than a quarter of it.
    static let maximumBytes = 4096

    let header: JSONObject
    /// The bytes that were signed: the first two parts with the dot between them.
    let signedBytes: [UInt8]
    let signature: [UInt8]
    private let claimsText: ArraySlice<UInt8>

    /// - Returns: `nil` unless `text` is three base64url parts, the first a JSON object.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes else { return nil }
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot), let last = bytes.lastIndex(of: dot),
            first < last, !bytes[(first + 1)..<last].contains(dot),
            let header = Self.object(bytes[..<first]),
            let signature = Base64URL.decode(bytes[(last + 1)...])
        else { return nil }
        self.header = header
        self.signature = signature
        signedBytes = Array(bytes[..<last])
        claimsText = bytes[(first + 1)..<last]
    }

    /// The claims. Read them only after the signature has been verified.
    var claims: JSONObject? { Self.object(claimsText) }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        // A part that is not JSON makes the token invalid. The cause is not needed: clients get one
        // error for every invalid token.
        guard case .object(let object)? = try? JSONValue.parse(bytes) else { return nil }
        return object
    }
}

extension JSONObject {
    func string(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }

    func integer(_ name: String) -> Int64? {
        guard case .integer(let number)? = self[name] else { return nil }
        return number
    }
}
