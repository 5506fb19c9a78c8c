internal import HTTPEngine

/// Which requests have a line in the log. Errors (4xx and 5xx) always have one.
enum AccessSampling: Equatable, Sendable {
    case all
    case errors
    /// This part of the other requests, between 0 and 1.
    case share(Double)

    static let leastShare = 0.000_001

    /// The ids of requests are spread over the numbers up to `UInt64.max`; a request whose number
    /// is not above this has a line.
    var threshold: UInt64 {
        switch self {
        case .all: .max
        case .errors: 0
        // 2^64, which a product with a smaller factor does not reach.
        case .share(let share): UInt64(share * 18_446_744_073_709_551_616)
        }
    }
}

extension RequestID {
    /// Fibonacci hashing (2^64 divided by the golden ratio): requests that follow each other are
    /// spread evenly, so a share of 1 % is one of about a hundred in a row. It is 0 for no request,
    /// because their numbers begin with 1.
    var sample: UInt64 { number &* 0x9e37_79b9_7f4a_7c15 }
}
