/// Which requests have a line in the log. Errors (4xx and 5xx) always have one.
public enum AccessSampling: Equatable, Sendable {
    case all
    case errors
    /// The part of the other requests that has a line, between 0 and 1.
    case share(Double)

    static let leastShare = 0.000_001

    /// A hash spreads the ids of requests over the numbers up to `UInt64.max`. A request has a line
    /// if its hash is not above this threshold.
    public var threshold: UInt64 {
        switch self {
        case .all: .max
        case .errors: 0
        // 2^64, which a product with a smaller factor does not reach.
        case .share(let share): UInt64(share * 18_446_744_073_709_551_616)
        }
    }
}
