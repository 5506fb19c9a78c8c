public import Networking

/// The client that sent a request, and the time. Every use case takes one besides its own input.
public struct Caller: Sendable {
    /// The client's network address; behind a trusted proxy the forwarded one.
    public let address: IPAddress
    /// The response's `X-Request-Id`. The access log and the audit events contain the same text.
    public let requestID: String
    /// The wall clock, for what is written into tokens, rows and logs.
    public let now: Instant
    /// The same moment on the monotonic clock, from which waiting is measured.
    public let arrival: ContinuousClock.Instant

    /// The client whose request this task works on, if an API has set it. Reports from code far
    /// below the use cases can then name the request.
    @TaskLocal public static var current: Caller?

    public init(
        address: IPAddress, requestID: String, now: Instant, arrival: ContinuousClock.Instant
    ) {
        self.address = address
        self.requestID = requestID
        self.now = now
        self.arrival = arrival
    }
}
