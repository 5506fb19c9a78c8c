internal import AuthCore
internal import Cryptography
internal import StrictJSON

/// A challenge as a client reads it: the token to send back, the work, and how long there is.
///
/// The token is the server's and is not verified here. What it asks is bounded: a hostile server
/// can waste a client's time, never its memory, and never without saying how much.
struct ServerChallenge: Sendable {
    let token: String
    let assignment: Assignment
    /// From when it was issued.
    let lifetime: Duration

    /// - Parameters:
    ///   - token: the JWT (RFC 7519), three base64url parts.
    ///   - pow: the body's `pow` object, where the server sends one; else the published parameters.
    ///   - salt: in place of the token's.
    init(token: String, pow: JSONObject? = nil, salt: String? = nil) throws(ChallengeFault) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard token.utf8.count <= 8192, parts.count == 3, let payload = Base64URL.decode(parts[1]),
            let claims = (try? JSONValue.parse(payload))?.object
        else { throw .notAToken }
        guard let id = claims.present("jti")?.string, (1...256).contains(id.utf8.count) else {
            throw .missing("jti")
        }
        guard let difficulty = claims.present("difficulty")?.integer else {
            throw .missing("difficulty")
        }
        guard let difficulty = Int(exactly: difficulty),
            Assignment.difficulties.contains(difficulty)
        else { throw .absurd("difficulty \(difficulty)") }
        guard let salt = salt ?? claims.present("salt")?.string, salt.utf8.count <= 1024 else {
            throw .missing("salt")
        }
        self.token = token
        assignment = Assignment(
            id: id, difficulty: difficulty,
            puzzle: .scrypt(parameters: try Self.parameters(pow), salt: salt))
        lifetime = Self.lifetime(claims)
    }

    private static func parameters(_ pow: JSONObject?) throws(ChallengeFault) -> Scrypt.Parameters {
        func member(_ name: String, _ standard: Int) throws(ChallengeFault) -> Int {
            guard let value = pow?.present(name) else { return standard }
            guard let number = value.integer, let number = Int(exactly: number) else {
                throw .absurd("pow.\(name)")
            }
            return number
        }
        if let algorithm = pow?.present("algorithm"), algorithm != .string("scrypt") {
            throw .absurd("pow.algorithm")
        }
        let (n, r, p) = (try member("N", 16_384), try member("r", 8), try member("p", 1))
        // The digest that POST /api/v1/session takes has 64 bytes.
        guard try member("dkLen", 64) == 64 else { throw .absurd("pow.dkLen") }
        do {
            let parameters = try Scrypt.Parameters(n: n, r: r, p: p, outputBytes: 64)
            guard p <= 4 else { throw ChallengeFault.absurd("pow.p \(p)") }
            return parameters
        } catch {
            throw .absurd("scrypt N=\(n) r=\(r) p=\(p)")
        }
    }

    /// By the server's own clock, so that ours may be wrong.
    private static func lifetime(_ claims: JSONObject) -> Duration {
        guard let issued = claims.present("iat")?.integer,
            let expiry = claims.present("exp")?.integer,
            case let (seconds, overflow) = expiry.subtractingReportingOverflow(issued), !overflow
        else { return .seconds(180) }
        return .seconds(min(max(1, seconds), 86_400))
    }
}

/// Why a challenge is not worked on.
enum ChallengeFault: Error, Equatable, CustomStringConvertible {
    case notAToken
    case missing(String)
    case absurd(String)

    var description: String {
        switch self {
        case .notAToken: "the challenge is not a JWT"
        case .missing(let claim): "the challenge has no usable \(claim)"
        case .absurd(let what): "the challenge asks for more than any honest one: \(what)"
        }
    }
}
