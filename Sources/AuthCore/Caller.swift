/// Who is asking, from where and when: what every use case is told besides its input.
public struct Caller: Sendable {
    public let client: ClientAddress
    /// Ties what happens to the answer's `X-Request-Id` and to the access log.
    public let requestID: String
    public let now: Instant

    public init(client: ClientAddress, requestID: String, now: Instant) {
        self.client = client
        self.requestID = requestID
        self.now = now
    }
}
