/// Which requests have a line in the log. Errors (4xx and 5xx) always have one.
public enum AccessSampling: Equatable, Sendable {
    case all
    case errors
    /// This part of the other requests, between 0 and 1.
    case share(Double)

    static let leastShare = 0.000_001

    /// The ids of requests are spread over the numbers up to `UInt64.max`; a request whose number
    /// is not above this has a line.
    public var threshold: UInt64 {
        switch self {
        case .all: .max
        case .errors: 0
        // 2^64, which a product with a smaller factor does not reach.
        case .share(let share): UInt64(share * 18_446_744_073_709_551_616)
        }
    }
}
