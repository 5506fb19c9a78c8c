import AuthCore
import Networking
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import AuthAPI
@testable import HTTPEngine

/// The order in which a request passes the steps of the pipeline, and what becomes of their errors.
struct PipelineTests {
    /// The steps that have run.
    private final class Trace: Sendable {
        private let names = Mutex<[String]>([])

        var steps: [String] { names.withLock { $0 } }

        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let trace = Trace()
    private let clock = TestClock()

    private func pipeline(
        _ rates: [RateLimiter.Class: RateLimiter.Rate] = [:]
    ) -> Pipeline<AccountsError> {
        let clock = clock
        let errors = AccountsErrors()
        return Pipeline(
            limiter: RateLimiter(settings: .init(rates: rates)), clock: clock.clocks,
            events: nil
        ) { error, _ in errors.response(error) }
    }

    /// A route whose steps are noted. Its class, if it has one, depends on the caller.
    private func route(
        _ pipeline: Pipeline<AccountsError>, body: BodyType = .json,
        limit: RateLimiter.Class? = .general, principal: AccountsError? = nil,
        handler: AccountsError? = nil
    ) -> Route {
        let trace = trace
        let authentication = Authentication<String, AccountsError> { _, _ in
            trace.note("identify")
            return .init(limit: limit) { () async throws(AccountsError) in
                trace.note("principal")
                if let principal { throw principal }
                return "ada"
            }
        }
        return pipeline.route(.post, "/api/thing", body: body, authentication) {
            request throws(AccountsError) in
            trace.note("handler for \(request.principal)")
            if let handler { throw handler }
            return Response(status: .noContent)
        }
    }

    private func send(_ route: Route, type: String? = nil) async throws -> Response {
        let headers = type.map { [("Content-Type", $0)] } ?? []
        return try await route.handler(
            Request(method: .post, target: "/api/thing", headers: headers))
    }

    @Test func eachStepRunsOnceInOrder() async throws {
        let response = try await send(route(pipeline()))
        #expect(response.status == .noContent)
        #expect(trace.steps == ["identify", "principal", "handler for ada"])
        #expect(response.header("RateLimit-Limit") == "8")
        #expect(response.header("RateLimit-Remaining") == "7")
        #expect(response.header("RateLimit-Reset") == "1")
    }

    @Test func theLimitOfTheClientComesBeforeEverything() async throws {
        let route = route(pipeline([.client: .init(1, per: .seconds(8))]))
        _ = try await send(route)
        let steps = trace.steps
        let response = try await send(route, type: "text/plain")
        try expectError(response, 429, "rate_limit_exceeded")
        #expect(trace.steps == steps)
        #expect(response.header("Retry-After") == "8")
        #expect(response.header("RateLimit-Limit") == "1")
        #expect(response.header("RateLimit-Remaining") == "0")
        #expect(response.header("RateLimit-Reset") == "8")
        clock.advance(by: .seconds(8))
        #expect(try await send(route).status == .noContent)
    }

    @Test func theMediaTypeComesBeforeAuthentication() async throws {
        let response = try await send(
            route(pipeline(), principal: .invalidToken), type: "text/plain")
        try expectError(response, 415, "unsupported_media_type")
        #expect(trace.steps.isEmpty)
        // Of the limits only that of the client has been taken.
        #expect(response.header("RateLimit-Limit") == "20")
    }

    @Test func theLimitOfTheClassComesBeforeAnInvalidTokenIsReported() async throws {
        let route = route(
            pipeline([.pro: .init(1, per: .seconds(8))]), limit: .pro, principal: .invalidToken)
        let first = try await send(route)
        try expectError(first, 401, "invalid_or_expired_token")
        #expect(first.header("RateLimit-Limit") == "1")
        #expect(trace.steps == ["identify", "principal"])
        try expectError(try await send(route), 429, "rate_limit_exceeded")
        #expect(trace.steps == ["identify", "principal", "identify"])
    }

    @Test func aClassThatDoesNotDependOnTheCallerComesBeforeTheMediaType() async throws {
        let pipeline = pipeline([.hashLogin: .init(1, per: .seconds(8))])
        let route = pipeline.route(.post, "/api/thing", body: .json, .none(limit: .hashLogin)) {
            _ throws(AccountsError) in Response(status: .noContent)
        }
        let first = try await send(route, type: "text/plain")
        try expectError(first, 415, "unsupported_media_type")
        #expect(first.header("RateLimit-Limit") == "1")
        try expectError(
            try await send(route, type: "text/plain"), 429, "rate_limit_exceeded")
    }

    @Test func aRequestOfNoClassCountsForItsClientOnly() async throws {
        let response = try await send(route(pipeline(), limit: nil))
        #expect(response.header("RateLimit-Limit") == "20")
        #expect(response.header("RateLimit-Remaining") == "19")
    }

    @Test func withoutALimiterThereAreNoLimitsAndNoFields() async throws {
        let errors = AccountsErrors()
        let clock = clock
        let route = route(
            Pipeline(limiter: nil, clock: clock.clocks, events: nil) { error, _ in
                errors.response(error)
            })
        for _ in 0..<50 {
            let response = try await send(route)
            #expect(response.status == .noContent)
            #expect(response.header("RateLimit-Limit") == nil)
        }
    }

    @Test func anErrorOfTheHandlerIsRenderedWithTheFieldsOfTheClass() async throws {
        let response = try await send(route(pipeline(), handler: .notFound))
        try expectError(response, 404, "not_found")
        #expect(response.header("RateLimit-Remaining") == "7")
        let busy = try await send(
            route(pipeline(), handler: .common(.busy(retryAfter: .seconds(3)))))
        try expectError(busy, 503, "server_busy")
        #expect(busy.header("Retry-After") == "3")
    }

    @Test func aLimitInsideTheHandlerReplacesTheFields() async throws {
        let status = RateLimitStatus(limit: 1, remaining: 0, secondsToReset: 8)
        let creation = RateLimited(retryAfter: .seconds(8), status: status)
        let first = try await send(
            route(pipeline(), handler: .common(.rateLimited(creation))))
        try expectError(first, 429, "rate_limit_exceeded")
        #expect(first.header("RateLimit-Limit") == "1")
        #expect(first.header("RateLimit-Reset") == "8")
        // The login throttle has no bucket to describe.
        let throttled = RateLimited(retryAfter: .seconds(4))
        let second = try await send(
            route(pipeline(), handler: .common(.rateLimited(throttled))))
        try expectError(second, 429, "rate_limit_exceeded")
        #expect(second.header("Retry-After") == "4")
        #expect(second.header("RateLimit-Limit") == nil)
    }

    /// The engine reports it once, with its cause, and has it rendered as 500.
    @Test func aFailureIsThrownToTheEngineWithItsCause() async throws {
        let failure = AccountsError.common(.failed(BrokenStore()))
        for route in [
            route(pipeline(), principal: failure), route(pipeline(), handler: failure),
        ] {
            await #expect(throws: BrokenStore.self) { try await send(route) }
        }
        let cancelled = route(
            pipeline(), handler: .common(.failed(CancellationError())))
        await #expect(throws: CancellationError.self) { try await send(cancelled) }
    }

    @Test func theCallerHasTheAddressAndTheIDOfTheRequest() async throws {
        let callers = Mutex<[Caller]>([])
        let clock = clock
        let route = pipeline().route(.post, "/api/thing", .none()) {
            request throws(AccountsError) in
            callers.withLock { $0.append(request.caller) }
            return Response(status: .noContent)
        }
        _ = try await route.handler(
            Request(
                method: .post, target: "/api/thing", id: RequestID(prefix: 7, number: 9)))
        let caller = try #require(callers.withLock { $0 }.first)
        #expect(caller.address == .loopback)
        #expect(caller.requestID == RequestID(prefix: 7, number: 9).description)
        #expect(caller.now == clock.now)
        #expect(caller.arrival == clock.monotonic)
    }

    @Test(
        arguments: [
            (.ignored, "text/plain", true), (.json, nil, true), (.json, "application/json", true),
            (.json, "APPLICATION/JSON; charset=utf-8", true), (.json, "text/plain", false),
            (.json, "", false), (.json, "application/x-www-form-urlencoded", false),
            (.formOrJSON(isOptional: false), nil, true),
            (.formOrJSON(isOptional: false), "application/x-www-form-urlencoded", true),
            (.formOrJSON(isOptional: false), "application/json", true),
            (.formOrJSON(isOptional: false), "multipart/form-data; boundary=x", false),
            (.formOrJSON(isOptional: true), "text/plain", false),
        ] as [(BodyType, String?, Bool)])
    func aBodyHasTheMediaTypeOfItsEndpointOrNone(
        body: BodyType, type: String?, isAccepted: Bool
    ) {
        let request = Request(
            method: .post, target: "/", headers: type.map { [("Content-Type", $0)] } ?? [],
            body: Array("{}".utf8))
        #expect((body.mismatch(with: request) == nil) == isAccepted)
    }

    @Test func onlyAnOptionalEmptyBodyMayHaveAnyMediaType() {
        let request = Request(
            method: .post, target: "/", headers: [("Content-Type", "text/plain")])
        #expect(BodyType.formOrJSON(isOptional: true).mismatch(with: request) == nil)
        #expect(BodyType.formOrJSON(isOptional: false).mismatch(with: request) != nil)
        #expect(BodyType.json.mismatch(with: request) == "application/json")
    }

    @Test func everyContentTypeOfARequestMustBeAccepted() {
        let request = Request(
            method: .post, target: "/",
            headers: [("Content-Type", "application/json"), ("Content-Type", "text/plain")])
        #expect(BodyType.json.mismatch(with: request) == "application/json")
        #expect(BodyType.formOrJSON(isOptional: false).mismatch(with: request) != nil)
    }
}

/// That the routes of every API go through the pipeline, and that the router comes before it.
struct RouterOrderTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld(
            AgentWorld(limits: true, rates: [.client: .init(1, per: .seconds(8))]))
    }

    @Test func unknownPathsOtherMethodsAndLargeBodiesCountForNoLimit() async throws {
        for _ in 0..<3 {
            try expectError(await api.call(.get, "/api/nothing"), 404, "not_found")
            try expectError(await api.call(.put, "/api/token"), 405, "method_not_allowed")
            let large = await api.call(
                .post, "/api/token", json: String(repeating: " ", count: 65_537))
            try expectError(large, 413, "payload_too_large")
            #expect(large.header("RateLimit-Limit") == nil)
        }
        #expect(await api.call(.get, "/api/domains").status == .ok)
        try expectError(await api.call(.get, "/api/domains"), 429, "rate_limit_exceeded")
        // Large bodies are still 413.
        let large = await api.call(
            .post, "/api/token", json: String(repeating: " ", count: 65_537))
        try expectError(large, 413, "payload_too_large")
    }

    @Test func aBodyIsReadLast() async throws {
        let api = try APIWorld()
        let path = "/api/accounts/a@mail.test/reset-password"
        let wrongType = await api.call(
            .put, path, bearer: "invalid", headers: [("Content-Type", "text/plain")])
        try expectError(wrongType, 415, "unsupported_media_type")
        let wrongToken = await api.call(.put, path, bearer: "invalid", json: "{")
        try expectError(wrongToken, 401, "invalid_or_expired_token")
        let (_, token) = try await api.account("a@mail.test")
        let wrongBody = await api.call(.put, path, bearer: token, json: "{")
        try expectError(wrongBody, 400, "invalid_request")
    }

    /// All routes but health, discovery and the web pages: one request each is allowed, a second is
    /// not.
    @Test func everyRouteHasTheLimitOfTheClient() async throws {
        let unlimited =
            [
                "/healthz", "/readyz", "/llms.txt", "/openapi.json", "/.well-known/jwks.json",
                "/.well-known/login-jwks.json",
            ] + api.web.routes.routes.map(\.template)
        for route in api.groups.flatMap(\.routes) {
            api.world.clock.advance(by: .seconds(8))
            let target = route.template.replacing("{account_id}", with: "a@mail.test")
                .replacing("{token_id}", with: "x").replacing("{domain_id}", with: "x")
                .replacing("{message_id}", with: "x").replacing("{index}", with: "0")
                .replacing("{webhook_id}", with: "x").replacing("{session_id}", with: "x")
                .replacing("{passkey_id}", with: "x").replacing("{identity_id}", with: "x")
                .replacing("{provider}", with: "id")
            let headers = [("Accept", "application/json")]
            let first = await api.call(route.method, target, headers: headers)
            #expect(first.status != .tooManyRequests, "\(route.template)")
            let second = await api.call(route.method, target, headers: headers)
            #expect(
                (second.status == .tooManyRequests) == !unlimited.contains(route.template),
                "\(route.method) \(route.template)")
        }
    }
}
