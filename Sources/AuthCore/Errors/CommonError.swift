internal import Scheduling

/// The errors that are possible in every flow. The error enum of each flow contains them as
/// `.common`.
public enum CommonError: Error, Sendable {
    /// The body is not valid for the endpoint. The text says where and why.
    case malformedRequest(String)
    /// `Content-Type` was given and is not `expected`.
    case unsupportedMediaType(expected: String)
    /// The client has sent too many requests of one class, or too many wrong secrets.
    case rateLimited(RateLimited)
    /// A work queue is full, or the database is busy, or its disk is full or fails. Nothing was
    /// changed.
    case busy(retryAfter: Duration)
    /// A fault of this server, never of the client: answered 500 without detail, and logged with
    /// this cause.
    case failed(any Error)

    /// Classifies an error of a store, a pool, a library or another flow.
    public init(_ error: any Error) {
        switch error {
        case let error as CommonError: self = error
        case let error as any FlowError: self = error.common ?? .failed(error)
        case let error as RateLimited: self = .rateLimited(error)
        case let error as WorkerPool.Full: self = .busy(retryAfter: error.retryAfter)
        case is StoreBusy: self = .busy(retryAfter: .seconds(1))
        // A full or broken disk usually lasts longer than a lock.
        case is StoreFull, is StoreDiskFailure: self = .busy(retryAfter: .seconds(10))
        case is ResolverUnavailable: self = .busy(retryAfter: .seconds(5))
        default: self = .failed(error)
        }
    }
}

/// A limit that a client has used up.
public struct RateLimited: Error, Equatable, Sendable {
    /// Whole seconds, at least one.
    public let retryAfter: Duration
    /// The state of the bucket that is empty, where there is one.
    public let status: RateLimitStatus?

    public init(retryAfter: Duration, status: RateLimitStatus? = nil) {
        self.retryAfter = retryAfter
        self.status = status
    }
}

/// How much of its allowance a client has left: the values of the `RateLimit-*` fields
/// (draft-ietf-httpapi-ratelimit-headers-06).
public struct RateLimitStatus: Equatable, Sendable {
    /// Requests that may come at once.
    public let limit: Int
    /// How many of them are left.
    public let remaining: Int
    /// Whole seconds until all of them are available again.
    public let secondsToReset: Int

    public init(limit: Int, remaining: Int, secondsToReset: Int) {
        self.limit = limit
        self.remaining = remaining
        self.secondsToReset = secondsToReset
    }
}

/// The store did not answer in time: its queue is full, its file or a row is locked, or its server
/// cannot be reached. Never reported as an absence.
public struct StoreBusy: Error, Sendable, CustomStringConvertible {
    /// For the operator; contains no value that was stored or looked up.
    public let cause: String

    public init(
        _ cause: String = "another process has been writing to it for too long; try again"
    ) {
        self.cause = cause
    }

    public var description: String { "the database is busy: \(cause)" }
}

/// The disk of the store is full. Nothing was written, and reading still works.
public struct StoreFull: Error, Sendable, CustomStringConvertible {
    public init() {}

    public var description: String { "the disk that the database is on is full" }
}

/// The disk of the store has failed a write, or may not be written to. Nothing was changed. Reading
/// works if the disk can still be read.
public struct StoreDiskFailure: Error, Sendable, CustomStringConvertible {
    /// For the operator; contains no value that was stored or looked up.
    public let cause: String

    public init(cause: String) {
        self.cause = cause
    }

    public var description: String { cause }
}

/// No name server gave a usable answer.
public struct ResolverUnavailable: Error, Sendable {
    public let cause: String

    public init(cause: String) {
        self.cause = cause
    }
}
