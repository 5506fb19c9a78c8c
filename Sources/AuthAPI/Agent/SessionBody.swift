internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import StrictJSON

/// The body of POST /api/v1/session.
struct SessionBody {
    enum Credential {
        /// To sign up.
        case username(Username)
        /// To log in.
        case apiKey(APIKey)
    }

    let credential: Credential
    let proof: Proof

    init(_ request: Request) throws(AgentError) {
        let body = try JSONBody<AgentError>(request)
        proof = Proof(nonce: try Self.nonce(in: body), digest: try Self.digest(in: body))
        switch (try body.string("username"), try body.string("apiKey")) {
        case (let name?, nil): credential = .username(try Username(parsing: name))
        case (nil, let text?):
            guard let key = APIKey(presented: text) else { throw .unknownAPIKey }
            credential = .apiKey(key)
        default:
            throw .malformed(
                "Send exactly one of `username` (to sign up) and `apiKey` (to log in).")
        }
    }

    private static func digest(in body: JSONBody<AgentError>) throws(AgentError) -> [UInt8] {
        let text = try body.requiredString("powHex")
        guard text.utf8.count == 128, let digest = Hex.decode(text.utf8) else {
            throw .malformed("`powHex` must be the 64-byte digest as 128 hex digits.")
        }
        return digest
    }

    private static func nonce(in body: JSONBody<AgentError>) throws(AgentError) -> Nonce {
        switch body.value("nonce") {
        case nil: throw .malformed("`nonce` is missing.")
        case .integer(let number): return Nonce(number)
        case .unsigned(let number): return Nonce(number)
        case .string(let text):
            if let nonce = Nonce(text) { return nonce }
            fallthrough
        default:
            throw .malformed(
                "`nonce` must be a string of 1 to 64 printable ASCII characters, or a 64-bit "
                    + "integer.")
        }
    }
}
