internal import Cryptography
internal import StrictJSON

/// A client of the agent API that builds its requests itself, with one connection for each request.
struct Agent {
    /// A challenge with its solution.
    struct Solved {
        let challenge: String
        let nonce: Int
        let digest: [UInt8]
    }

    /// Kept, so that the program runs as long as its client exists.
    private let program: Program

    init(_ program: Program) { self.program = program }

    var port: Int { program.port }

    func call(
        _ method: String, _ path: String, bearer: String? = nil, body: [UInt8]? = nil
    ) throws -> Response {
        let connection = try TestConnection(port: port)
        try connection.send(Self.request(method, path, bearer: bearer, body: body))
        return try connection.response()
    }

    static func request(
        _ method: String, _ path: String, bearer: String? = nil, body: [UInt8]? = nil
    ) -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: postern.test\r\n"
        if let bearer { head += "Authorization: Bearer \(bearer)\r\n" }
        if let body {
            head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
        }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }

    func solve() throws -> Solved {
        let response = try call("POST", "/api/v1/challenge")
        let challenge = try Self.token(in: response)
        let pow = try response.json()["pow"]?.object
        guard let difficulty = try response.json()["difficulty"]?.integer,
            let salt = pow?["salt"]?.string, let input = pow?["input"]?.string
        else { throw TestError("not a challenge: \(response.text)") }
        let parameters = try Scrypt.Parameters(n: 16_384, r: 8, p: 1, outputBytes: 64)
        var nonce = 0
        while true {
            let text = input.split(separator: "<")[0] + String(nonce)
            let digest = try Scrypt.hash(
                password: Array(text.utf8), salt: Array(salt.utf8), parameters: parameters)
            if Self.leadingZeroBits(digest) >= difficulty {
                return Solved(challenge: challenge, nonce: nonce, digest: digest)
            }
            nonce += 1
        }
    }

    /// - Parameter member: `username` or `apiKey`.
    static func opening(_ solved: Solved, _ member: String, _ value: String) -> [UInt8] {
        let body = JSONWriter.object { body in
            body.member("powHex", Hex.encode(solved.digest))
            body.member("nonce", String(solved.nonce))
            body.member(member, value)
        }
        return request("POST", "/api/v1/session", bearer: solved.challenge, body: body)
    }

    func open(_ solved: Solved, _ member: String, _ value: String) throws -> Response {
        let connection = try TestConnection(port: port)
        try connection.send(Self.opening(solved, member, value))
        return try connection.response()
    }

    func signup(_ username: String) throws -> Response { try open(solve(), "username", username) }

    func login(_ apiKey: String) throws -> Response { try open(solve(), "apiKey", apiKey) }

    /// The token in the header of a response.
    static func token(in response: Response) throws -> String {
        guard let value = response["authorization"], value.hasPrefix("Bearer ") else {
            throw TestError("no token in \(response.status) \(response.text)")
        }
        return String(value.dropFirst(7))
    }

    private static func leadingZeroBits(_ digest: [UInt8]) -> Int {
        let whole = digest.prefix { $0 == 0 }.count
        return whole * 8 + (whole < digest.count ? digest[whole].leadingZeroBitCount : 0)
    }
}
