public import AuthCore
public import HTTPEngine
internal import StrictJSON

/// `/test/…`: the endpoints for test suites, without credentials (docs/test-suites.md, "Endpoints
/// of the test profile").
///
/// Errors are those of the accounts API. There are no rate limits, because a suite that has used up
/// a limit sets the clock here. A page of another origin in a browser gets 403, and so does every
/// host name that another site can make resolve to this server (``PublicHost``).
public struct TestAPI: Sendable {
    private static let eventPage = 100
    private static let maximumEventPage = 1000

    private let fixtures: TestFixtures
    private let mail: TestMail?
    private let work: MailWork
    private let pipeline: Pipeline<AccountsError>
    private let errors = AccountsErrors()
    private let host: PublicHost

    /// - Parameter mail: where the mail is. Without mail in this process the endpoints for mail
    ///   answer 503.
    public init(
        fixtures: TestFixtures, publicURL: String, clock: ServerClock, mail: AccountsMail
    ) {
        self.fixtures = fixtures
        host = PublicHost(publicURL: publicURL)
        self.mail = mail.local.map { TestMail($0, clock: clock) }
        work = mail.work
        let errors = errors
        pipeline = Pipeline(limiter: nil, clock: clock, events: nil) { error, _ in
            errors.response(error)
        }
    }

    public var routes: RouteGroup {
        let access = Authentication<Void, AccountsError>(limit: .general) {
            [host] request, _ throws(AccountsError) in
            guard host.isPrivate(in: request), !request.isCrossOrigin else { throw .forbidden }
        }
        let mail = TestMailEndpoints(
            mail: mail, work: work, pipeline: pipeline, access: access)
        return RouteGroup(
            prefixes: ["/test"], errors: errors.renderer,
            routes: mail.routes + [
                pipeline.route(.post, "/test/reset", access, reset),
                pipeline.route(.get, "/test/clock", access) { _ throws(AccountsError) in time },
                pipeline.route(.post, "/test/clock", body: .json, access, setClock),
                pipeline.route(.post, "/test/accounts", body: .json, access, makeAccounts),
                pipeline.route(.post, "/test/users", body: .json, access, makeUsers),
                pipeline.route(.post, "/test/tokens", body: .json, access, makeTokens),
                pipeline.route(.get, "/test/events", access, listEvents),
            ])
    }

    /// POST /test/reset
    private func reset(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        try await fixtures.reset()
        mail?.reset()
        return Response(status: .noContent)
    }

    // MARK: The clock

    /// The answer to GET and POST /test/clock.
    private var time: Response { .json(.ok) { $0.member("now", fixtures.now.rfc3339) } }

    /// POST /test/clock
    private func setClock(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let time: Instant
        switch (try body.string("set"), body.value("advance")) {
        case (let text?, nil):
            guard let instant = Instant(rfc3339: text) else {
                throw .malformed("`set` must be a time such as `2026-01-15T10:30:00Z`.")
            }
            time = instant
        case (nil, .integer(let seconds)?) where seconds >= 0:
            time = fixtures.now.advanced(by: .seconds(seconds))
        default:
            throw .malformed(
                "Send either `set`, a time, or `advance`, a whole number of seconds from 0.")
        }
        guard AdjustableClock.times.contains(time) else {
            throw .malformed("The time must be in the years 1970 to 9999.")
        }
        try await fixtures.set(to: time)
        return self.time
    }

    // MARK: Accounts, users, tokens

    /// POST /test/accounts
    private func makeAccounts(
        _ request: APIRequest<Void>
    ) async throws(AccountsError) -> Response {
        let new = try list(of: request) { body throws(AccountsError) in
            try account(in: body)
        }
        var made: [TestFixtures.MadeAccount] = []
        for one in new { made.append(try await fixtures.make(one, by: request.caller)) }
        return .json(.created) { body in
            body.array("accounts") { list in
                for one in made { list.element { write(one, to: &$0) } }
            }
        }
    }

    private func account(
        in body: JSONBody<AccountsError>
    ) throws(AccountsError) -> TestFixtures.NewAccount {
        let password = try body.password("password")
        let owner = try body.string("owner")
        let isAgent = try body.bool("agent") ?? false
        guard !isAgent || password == nil && owner == nil else {
            throw .malformed("An agent has neither `password` nor `owner`.")
        }
        return TestFixtures.NewAccount(
            address: try body.string("address"), login: isAgent ? .apiKey : .password(password),
            owner: owner)
    }

    private func write(_ made: TestFixtures.MadeAccount, to body: inout JSONWriter) {
        body.member("id", made.account.id.text)
        body.member("address", made.account.address.description)
        switch made.secret {
        case .apiKey(let key): body.member("api_key", key.secret)
        case .password(let password): body.member("password", password)
        }
        body.member("token", made.token)
        body.member("expires_at", made.expiry.rfc3339)
    }

    /// POST /test/users
    private func makeUsers(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let new = try list(of: request) { body throws(AccountsError) in
            (email: try body.string("email"), password: try body.password("password"))
        }
        var made: [TestFixtures.MadeUser] = []
        for one in new {
            made.append(
                try await fixtures.makeUser(
                    email: one.email, password: one.password, by: request.caller))
        }
        return .json(.created) { body in
            body.array("users") { list in
                for one in made {
                    list.element { member in
                        member.member("id", one.user.id.text)
                        member.member("email", one.user.email.text)
                        member.member("password", one.password)
                        member.member("token", one.token)
                        member.member("expires_at", one.expiry.rfc3339)
                    }
                }
            }
        }
    }

    /// POST /test/tokens
    private func makeTokens(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let new = try list(of: request) { body throws(AccountsError) in try token(in: body) }
        var made: [TestFixtures.MadeToken] = []
        for one in new { made.append(try await fixtures.make(one, by: request.caller)) }
        return .json(.created) { body in
            body.array("tokens") { list in
                for one in made {
                    list.element { member in
                        if let id = one.id { member.member("id", id.text) }
                        member.member("token", one.text)
                        member.member("expires_at", one.expiry?.rfc3339)
                    }
                }
            }
        }
    }

    private func token(
        in body: JSONBody<AccountsError>
    ) throws(AccountsError) -> TestFixtures.NewToken {
        switch try body.requiredString("kind") {
        case "account": return .account(address: try body.requiredString("address"))
        case "capability": return .capability(address: try body.requiredString("address"))
        case "user": return .user(email: try body.requiredString("email"))
        case "api_token":
            return .apiToken(
                email: try body.requiredString("email"), name: try body.apiTokenName(),
                lifetime: try body.apiTokenLifetime(), scopes: try body.apiTokenScopes())
        default:
            throw .malformed("`kind` must be `account`, `capability`, `user` or `api_token`.")
        }
    }

    /// The whole body is read before anything is made.
    private func list<Item>(
        of request: APIRequest<Void>,
        _ read: (JSONBody<AccountsError>) throws(AccountsError) -> Item
    ) throws(AccountsError) -> [Item] {
        var items: [Item] = []
        let bodies = try JSONBody<AccountsError>.list(
            request.http, atMost: TestFixtures.maximumCount)
        for body in bodies { items.append(try read(body)) }
        return items
    }

    // MARK: Events

    /// GET /test/events?after=&limit=
    private func listEvents(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let after = try number("after", in: request.http, from: 0...Int64.max) ?? 0
        let limit = try number("limit", in: request.http, from: 1...Int64(Self.maximumEventPage))
        let records = try await fixtures.events(
            after: after, limit: limit.map(Int.init) ?? Self.eventPage)
        return .json(.ok) { body in
            body.array("events") { list in
                for record in records { list.element { record.write(to: &$0) } }
            }
            body.member("last", records.last?.sequence ?? after)
        }
    }

    /// A number in the query, without a sign; `nil` when it is not given.
    private func number(
        _ name: String, in request: Request, from range: ClosedRange<Int64>
    ) throws(AccountsError) -> Int64? {
        let texts = request.query.filter { $0.name == name }.map(\.value)
        guard let text = texts.first else { return nil }
        guard texts.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text), range.contains(number)
        else {
            throw .malformed(
                "`\(name)` must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
