internal import AuthCore
internal import Cryptography
public import StrictJSON

/// A challenge as a client reads it: the token to send back, the work, and its lifetime.
///
/// The token is not verified, because only the server has the key. The work is bounded: a hostile
/// server can waste a client's time, but not its memory, and the difficulty is shown.
public struct ServerChallenge: Sendable {
    let token: String
    public let assignment: Assignment
    /// Counted from the time of issue.
    let lifetime: Duration

    /// - Parameters:
    ///   - token: the JWT (RFC 7519), three base64url parts.
    ///   - pow: the `pow` object of the body; without one the published parameters are used.
    ///   - salt: replaces the salt of the token.
    public init(token: String, pow: JSONObject? = nil, salt: String? = nil) throws(ChallengeError) {
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
        else { throw .outOfBounds("difficulty \(difficulty)") }
        guard let salt = salt ?? claims.present("salt")?.string, salt.utf8.count <= 1024 else {
            throw .missing("salt")
        }
        self.token = token
        assignment = Assignment(
            id: id, difficulty: difficulty,
            puzzle: .scrypt(parameters: try Self.parameters(pow), salt: salt))
        lifetime = Self.lifetime(claims)
    }

    private static func parameters(_ pow: JSONObject?) throws(ChallengeError) -> Scrypt.Parameters {
        func member(_ name: String, _ standard: Int) throws(ChallengeError) -> Int {
            guard let value = pow?.present(name) else { return standard }
            guard let number = value.integer, let number = Int(exactly: number) else {
                throw .outOfBounds("pow.\(name)")
            }
            return number
        }
        if let algorithm = pow?.present("algorithm"), algorithm != .string("scrypt") {
            throw .outOfBounds("pow.algorithm")
        }
        let (n, r, p) = (try member("N", 16_384), try member("r", 8), try member("p", 1))
        // POST /api/v1/session takes a digest of 64 bytes.
        guard try member("dkLen", 64) == 64 else { throw .outOfBounds("pow.dkLen") }
        do {
            let parameters = try Scrypt.Parameters(n: n, r: r, p: p, outputBytes: 64)
            guard p <= 4 else { throw ChallengeError.outOfBounds("pow.p \(p)") }
            return parameters
        } catch {
            throw .outOfBounds("scrypt N=\(n) r=\(r) p=\(p)")
        }
    }

    /// The difference of the server's own times. It does not depend on the client's clock.
    private static func lifetime(_ claims: JSONObject) -> Duration {
        guard let issued = claims.present("iat")?.integer,
            let expiry = claims.present("exp")?.integer,
            case (let seconds, let overflow) = expiry.subtractingReportingOverflow(issued),
            !overflow
        else { return .seconds(180) }
        return .seconds(min(max(1, seconds), 86_400))
    }
}

/// Why a client does not work on a challenge.
public enum ChallengeError: Error, Equatable, CustomStringConvertible {
    case notAToken
    case missing(String)
    case outOfBounds(String)

    public var description: String {
        switch self {
        case .notAToken: "the challenge is not a JWT"
        case .missing(let claim): "the challenge has no usable \(claim)"
        case .outOfBounds(let what): "the challenge asks for more than this client does: \(what)"
        }
    }
}
