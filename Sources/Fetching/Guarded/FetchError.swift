internal import CCurl
public import Networking

/// A text is not a URL that may be fetched: its syntax, scheme, port, user info, or a numeric host
/// that is not in canonical form. Nothing was looked up.
public struct MalformedTarget: Error, Equatable {
    public init() {}
}

/// Too many fetches wait for a thread or for the same host. The host was not connected to.
public struct TooManyFetches: Error, Equatable, CustomStringConvertible {
    /// The queue that is full: `lookup`, `transfer` or `host`.
    public let queue: String

    public var description: String { "too many fetches are waiting (\(queue) queue)" }
}

/// A fetch did not end with status 200 and a body within its limit.
///
/// Clients must not get the cause, which would make the server a port scanner. It is for the
/// operator's log and contains no text from the host.
public struct FetchError: Error, Equatable, CustomStringConvertible {
    /// What went wrong. Only the status comes from the response itself.
    public enum Cause: Equatable, Sendable {
        case unresolvable(NameLookupError)
        /// One address of the host, or the address of the socket, is not allowed by the rules.
        case forbiddenAddress(IPAddress)
        case unreachable
        case untrusted
        case timedOut
        case tooLarge
        /// The response is compressed, although no compression was offered.
        case encoded
        case status(Int)
        /// The response is not HTTP, or incomplete; with libcurl's error code.
        case broken(code: Int)
    }

    public let cause: Cause

    public init(_ cause: Cause) {
        self.cause = cause
    }

    public var description: String {
        switch cause {
        case .unresolvable(let error): "the host name cannot be resolved: \(error)"
        case .forbiddenAddress(let address):
            "the address \(address) may not be connected to"
                + (address.specialPurpose.map { " (\($0))" } ?? "")
        case .unreachable: "the host cannot be reached"
        case .untrusted: "TLS failed or the host's certificate is not trusted"
        case .timedOut: "the host did not answer in time"
        case .tooLarge: "the response is too large"
        case .encoded: "the response is compressed"
        case .status(let status): "the response has status \(status)"
        case .broken(let code):
            "the response is not HTTP or incomplete: \(curlText(code)) (curl \(code))"
        }
    }
}
