/// A text that names nothing that may be fetched: its syntax, scheme, port, user info, or a
/// numeric host that is not in canonical form. Nothing was looked up.
public struct MalformedTarget: Error, Equatable {
    public init() {}
}

/// Every thread is taken and too many are waiting, for a thread or for the host's turn. The host
/// was not connected to.
public struct TooManyFetches: Error, Equatable, CustomStringConvertible {
    public init() {}

    public var description: String { "too many fetches are waiting" }
}

/// A fetch did not end in status 200 and a body within its limit.
///
/// The client is told no more than that: whoever learns the cause has a port scanner. The cause is
/// for the operator's log, and holds nothing that the host has sent.
public struct FetchFailure: Error, Equatable, CustomStringConvertible {
    public enum Cause: Equatable, Sendable {
        case unresolvable
        case refusedAddress(IPAddress)
        case unreachable
        case untrusted
        case timedOut
        case tooLarge
        /// Compressed, which nobody asked for.
        case encoded
        case status(Int)
        /// Not HTTP, or broken off, by libcurl's number.
        case broken(code: Int)
    }

    public let cause: Cause

    public init(_ cause: Cause) {
        self.cause = cause
    }

    public var description: String {
        switch cause {
        case .unresolvable: "the host name cannot be resolved"
        case .refusedAddress(let address): "the address \(address) may not be connected to"
        case .unreachable: "the host cannot be reached"
        case .untrusted: "TLS failed or the host's certificate is not trusted"
        case .timedOut: "the host took too long"
        case .tooLarge: "the answer is too large"
        case .encoded: "the answer is compressed"
        case .status(let status): "the answer has status \(status)"
        case .broken(let code): "the answer is not HTTP or broke off (curl \(code))"
        }
    }
}
