internal import AuthCore
internal import HTTPEngine
internal import Networking

/// Counts requests before anything else is looked at, and tells callers where they stand
/// (contract section 2, "Rate limits"; field names as in draft-ietf-httpapi-ratelimit-headers-06).
struct Gate: Sendable {
    let limiter: RateLimiter
    let clock: @Sendable () -> Instant
    /// In the error shape of the surface that the gate belongs to.
    let render: @Sendable (Refusal, Request) -> Response

    /// Takes one from the client's bucket and runs `handler`. What either refuses is rendered here,
    /// so that refusals carry the fields too; anything else passes through.
    func admit(
        _ request: Request, as limit: RateLimiter.Class,
        _ handler: (Caller) async throws -> Response
    ) async throws -> Response {
        let caller = self.caller(of: request)
        var standing: RateStatus?
        var response: Response
        do {
            standing = try limiter.take(limit, for: caller.client, at: caller.now)
            response = try await handler(caller)
        } catch {
            guard let refusal = Refusal(error) else { throw error }
            // What turned the caller away is what the fields are about, not what let it this far.
            if case .tooManyRequests(_, let refusing) = refusal { standing = refusing }
            response = render(refusal, request)
        }
        if let standing {
            response.headers.append(("RateLimit-Limit", String(standing.limit)))
            response.headers.append(("RateLimit-Remaining", String(standing.remaining)))
            response.headers.append(("RateLimit-Reset", String(standing.secondsToReset)))
        }
        return response
    }

    /// Renders what a handler throws outside of `admit`.
    func rendered(
        _ request: Request, _ handler: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await handler()
        } catch {
            guard let refusal = Refusal(error) else { throw error }
            return render(refusal, request)
        }
    }

    func caller(of request: Request) -> Caller {
        Caller(
            client: ClientAddress(bytes: request.peer.bytes), requestID: request.id, now: clock())
    }
}
