internal import AuthCore
internal import Fetching
internal import LocalMail
internal import postern

/// A Postern that runs in this process: in the test profile, with its database in memory, on a free
/// port of this machine.
///
/// Any number of servers can run at once; they share nothing. A server must be stopped;
/// ``run(settings:log:_:)`` does so.
public final class PosternServer: Sendable {
    /// The address for the code under test, such as `http://127.0.0.1:38271`.
    public let url: String
    let server: EmbeddedServer
    private let fetcher = Fetcher(lanes: 4, depth: 1024)

    private init(_ server: EmbeddedServer) {
        url = server.url
        self.server = server
    }

    /// Returns when the server listens.
    /// - Parameters:
    ///   - settings: by their keys, such as `["users.registration": "open"]`. Neither a
    ///     configuration file nor the environment is read.
    ///   - descriptor: where the log goes, as JSON lines; nowhere unless given.
    /// - Throws: an error whose description says what is wrong with the settings, or why the server
    ///   cannot start.
    public static func start(
        settings: [String: String] = [:], log descriptor: Int32? = nil
    ) async throws -> PosternServer {
        PosternServer(try await EmbeddedServer.start(settings: settings, log: descriptor))
    }

    /// Runs `body` with a server of its own, and stops the server.
    public static func run<Result: Sendable>(
        settings: [String: String] = [:], log descriptor: Int32? = nil,
        _ body: (PosternServer) async throws -> Result
    ) async throws -> Result {
        let server = try await start(settings: settings, log: descriptor)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Completes the requests in flight and ends the server.
    public func stop() async {
        await server.stop()
    }

    /// Removes accounts, users, tokens, hash logins, events and mail, clears all limits and the
    /// fault of mail, and sets the clock to the system's time. The signing keys stay.
    public func reset() async throws {
        try await checked { fixtures, _ throws(AccountsError) in try await fixtures.reset() }
        server.mail?.reset()
    }

    /// The server's clock.
    public var clock: ServerTime { ServerTime(server) }

    /// The credential events after a number, oldest first; 0 is before the first.
    public func events(after number: Int64 = 0) async throws -> [Event] {
        let records = try await checked { fixtures, _ throws(AccountsError) in
            try await fixtures.events(after: number, limit: .max)
        }
        return records.map(Event.init)
    }

    // MARK: What is made without a proof of work

    /// Makes an agent's mailbox. The address is made up unless given.
    public func makeAgent(_ address: String? = nil) async throws -> Agent {
        let made = try await make(address, .apiKey, owner: nil)
        guard case .apiKey(let key) = made.secret else {
            preconditionFailure("an agent has an API key")
        }
        return Agent(made, apiKey: key.secret)
    }

    /// Makes a mailbox with a password. What is not given is made up.
    /// - Parameter owner: the email of the user who owns it.
    public func makeAccount(
        _ address: String? = nil, password: String? = nil, owner: String? = nil
    ) async throws -> MailAccount {
        let made = try await make(
            address, .password(password.map { Array($0.utf8) }), owner: owner)
        guard case .password(let password) = made.secret else {
            preconditionFailure("an account has a password")
        }
        return MailAccount(made, password: password)
    }

    private func make(
        _ address: String?, _ login: TestFixtures.NewAccount.Login, owner: String?
    ) async throws -> TestFixtures.MadeAccount {
        let new = TestFixtures.NewAccount(address: address, login: login, owner: owner)
        return try await checked { fixtures, caller throws(AccountsError) in
            try await fixtures.make(new, by: caller)
        }
    }

    /// Makes a Pro user. What is not given is made up.
    public func makeUser(_ email: String? = nil, password: String? = nil) async throws -> ProUser {
        let made = try await checked { fixtures, caller throws(AccountsError) in
            try await fixtures.makeUser(
                email: email, password: password.map { Array($0.utf8) }, by: caller)
        }
        return ProUser(made)
    }

    /// A session JWT for an agent, otherwise an Email JWT.
    public func makeToken(forAccount address: String) async throws -> Token {
        try await make(.account(address: address))
    }

    /// A capability JWT, as the mail store accepts it.
    public func makeCapability(for address: String) async throws -> Token {
        try await make(.capability(address: address))
    }

    /// A Pro JWT.
    public func makeToken(forUser email: String) async throws -> Token {
        try await make(.user(email: email))
    }

    /// A Pro API token.
    /// - Parameters:
    ///   - lifetime: `nil` for a token that does not expire.
    ///   - scopes: of `accounts`, `domains` and `tokens`; all unless given.
    public func makeAPIToken(
        forUser email: String, name: String = "API token", lifetime: Duration? = nil,
        scopes: [String]? = nil
    ) async throws -> Token {
        let known = scopes?.compactMap(APIToken.Scope.init)
        guard known?.count == scopes?.count else { throw PosternError("unknown scope") }
        return try await make(
            .apiToken(email: email, name: name, lifetime: lifetime, scopes: known.map { Set($0) }))
    }

    private func make(_ new: TestFixtures.NewToken) async throws -> Token {
        Token(
            try await checked { fixtures, caller throws(AccountsError) in
                try await fixtures.make(new, by: caller)
            })
    }

    private func checked<T: Sendable>(
        _ body: (TestFixtures, Caller) async throws(AccountsError) -> T
    ) async throws -> T {
        do {
            return try await body(server.fixtures, server.caller)
        } catch {
            throw PosternError(error)
        }
    }

    // MARK: HTTP

    /// Sends a GET request to the server.
    public func get(_ path: String, token: String? = nil) async throws -> HTTPResponse {
        try await send(.get, path, [], token)
    }

    /// Sends a POST request with a JSON body to the server.
    public func post(
        _ path: String, json: String = "", token: String? = nil
    ) async throws -> HTTPResponse {
        try await send(.post, path, Array(json.utf8), token)
    }

    private func send(
        _ method: OutboundRequest.Method, _ path: String, _ body: [UInt8], _ token: String?
    ) async throws -> HTTPResponse {
        var headers = [(name: "Accept", value: "application/json")]
        if let token { headers.append((name: "Authorization", value: "Bearer \(token)")) }
        if !body.isEmpty { headers.append((name: "Content-Type", value: "application/json")) }
        let response = try await fetcher.send(
            OutboundRequest(
                method, url + path, headers: headers, body: body, timeout: .seconds(60),
                bodyLimit: 16_777_216))
        return HTTPResponse(
            status: response.status, headers: response.headers, body: response.body)
    }
}

/// Why something could not be made.
public struct PosternError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ error: any Error) {
        self.init("\(error)")
    }
}
