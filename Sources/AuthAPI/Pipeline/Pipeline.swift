internal import AuthCore
internal import HTTPEngine
internal import Networking

/// Runs every request between the router and its handler, in the same order for all APIs:
///
/// 1. the limit of the client (429), before anything is verified or looked up;
/// 2. the media type of the body (415);
/// 3. authentication (401, 403), which gives the handler its principal;
/// 4. the limit of the class that the principal belongs to (429);
/// 5. the handler: decode the body (400), one use case, encode the response.
///
/// The router answers 404, 405 and 413 before. An error of any step is rendered here, once, in the
/// form of the API. An error that is this server's fault is thrown to the engine, which reports it
/// once and has it rendered as 500.
struct Pipeline<Failure: FlowError>: Sendable {
    typealias Handler<Principal> =
        @Sendable (APIRequest<Principal>) async throws(Failure) -> Response

    /// `nil` for endpoints without limits: health and discovery.
    let limiter: RateLimiter?
    let clock: ServerClock
    /// Gets rejected tokens, and attempts that a use case has throttled; `nil` for endpoints that
    /// have neither.
    let events: SecurityEvents?
    /// Whether errors that are this server's fault are rendered here as well. They are reported in
    /// any case.
    var rendersFaults = false
    let render: @Sendable (Failure, Request) -> Response

    /// A route whose requests go through the pipeline.
    /// - Parameters:
    ///   - body: the media type that the endpoint takes.
    ///   - bodyLimit: the most bytes of a body; `nil` for the limit of the server.
    ///   - isLongPoll: whether the handler waits for something that need not happen.
    ///   - authentication: who may send the request, and the principal that the handler gets.
    ///   - client: the address of the client, if the request is from a service that names it.
    func route<Principal>(
        _ method: Method, _ path: String, body: BodyType = .ignored,
        bodyLimit: Int? = nil, isLongPoll: Bool = false,
        _ authentication: Authentication<Principal, Failure>,
        client: @escaping @Sendable (Request) -> IPAddress? = { _ in nil },
        _ handler: @escaping Handler<Principal>
    ) -> Route {
        Route(method, path, bodyLimit: bodyLimit, isLongPoll: isLongPoll) { request in
            let caller = Caller(
                address: client(request) ?? request.peer, requestID: request.id,
                now: clock.now(), arrival: clock.monotonic())
            var status: RateLimitStatus?
            var response: Response
            var isHandling = false
            do throws(Failure) {
                status = try take(.client, for: caller)
                if let limit = authentication.limit { status = try take(limit, for: caller) }
                if let expected = body.mismatch(with: request) {
                    throw .common(.unsupportedMediaType(expected: expected))
                }
                let identity = await authentication.identify(request, caller)
                if let limit = identity.limit { status = try take(limit, for: caller) }
                let principal = try await identity.principal()
                isHandling = true
                response = try await handler(
                    APIRequest(http: request, principal: principal, caller: caller))
            } catch {
                let kind = kind(of: error, of: request, isHandling: isHandling)
                if let kind { events?.record(SecurityEvent(kind, subject: path, by: caller)) }
                switch error.common {
                case .failed(let cause):
                    // A request whose client has gone is not a fault.
                    guard rendersFaults, !(cause is CancellationError) else { throw cause }
                    throw AnsweredFault(cause: cause, response: render(error, request))
                // The fields describe the limit that was exceeded.
                case .rateLimited(let limited): status = limited.status
                default: break
                }
                response = render(error, request)
            }
            response.add(status)
            return response
        }
    }

    /// The security event that an error is; `nil` for one that is not.
    private func kind(
        of error: Failure, of request: Request, isHandling: Bool
    ) -> SecurityEvent.Kind? {
        // Without a token nothing was rejected.
        if error.isRejectedToken, isHandling || request.hasCredentials { return .tokenRejected }
        // Requests beyond a rate limit are not attempts to get access.
        if isHandling, case .rateLimited? = error.common { return .attemptThrottled }
        return nil
    }

    private func take(
        _ limit: RateLimiter.Class, for caller: Caller
    ) throws(Failure) -> RateLimitStatus? {
        do {
            return try limiter?.take(limit, for: caller.address, at: caller.arrival)
        } catch {
            throw .common(.rateLimited(error))
        }
    }
}

/// The input of a handler: the request and its sender.
struct APIRequest<Principal: Sendable>: Sendable {
    let http: Request
    let principal: Principal
    let caller: Caller
}

/// How an endpoint authenticates a request, and the class of its rate limit.
struct Authentication<Principal: Sendable, Failure: FlowError>: Sendable {
    /// A caller whose token has been verified, or who has none.
    struct Identity: Sendable {
        /// The class, if it depends on the caller.
        let limit: RateLimiter.Class?
        /// Returns the principal, or throws why the caller is not allowed. Runs after the limit of
        /// the class.
        let principal: @Sendable () async throws(Failure) -> Principal
    }

    /// The class of every request, where it does not depend on the caller. A token of it is taken
    /// before the media type is checked.
    let limit: RateLimiter.Class?
    let identify: @Sendable (Request, Caller) async -> Identity

    /// An endpoint whose requests all belong to one class.
    init(
        limit: RateLimiter.Class,
        _ principal: @escaping @Sendable (Request, Caller) async throws(Failure) -> Principal
    ) {
        self.limit = limit
        identify = { request, caller in
            Identity(limit: nil) { () async throws(Failure) in
                try await principal(request, caller)
            }
        }
    }

    /// An endpoint whose requests belong to the class of their caller.
    init(identify: @escaping @Sendable (Request, Caller) async -> Identity) {
        limit = nil
        self.identify = identify
    }
}

extension Authentication where Principal == Void {
    /// An endpoint that ignores credentials.
    static func none(limit: RateLimiter.Class = .general) -> Authentication {
        Authentication(limit: limit) { _, _ in }
    }
}

extension Response {
    /// Adds the `RateLimit-*` fields (draft-ietf-httpapi-ratelimit-headers-06).
    fileprivate mutating func add(_ status: RateLimitStatus?) {
        guard let status else { return }
        headers.append(("RateLimit-Limit", String(status.limit)))
        headers.append(("RateLimit-Remaining", String(status.remaining)))
        headers.append(("RateLimit-Reset", String(status.secondsToReset)))
    }
}
