/// Why there is no answer to a question about the DNS. That nothing is published is an answer.
public enum DNSFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not a name that can be asked for.
    case invalidName
    /// The system names no nameserver.
    case noServer
    case unreachable
    case timedOut
    /// The nameserver answered that it cannot or will not say (RFC 1035 §4.1.1, RCODE).
    case refused(code: Int)
    case malformed
    /// More octets or records than are taken.
    case tooLarge
    /// Every lane is taken and too many are waiting.
    case busy

    public var description: String {
        switch self {
        case .invalidName: "the name cannot be looked up"
        case .noServer: "no nameserver is configured"
        case .unreachable: "the nameserver cannot be reached"
        case .timedOut: "the nameserver took too long"
        case .refused(let code): "the nameserver gave no answer (code \(code))"
        case .malformed: "the nameserver's answer makes no sense"
        case .tooLarge: "the nameserver's answer is too large"
        case .busy: "too many look-ups are under way"
        }
    }
}
