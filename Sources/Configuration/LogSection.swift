/// `[log]`: what the log contains.
public struct LogSection: Sendable {
    /// Which requests have a line.
    public var access = AccessSampling.all

    static let settings = [Setting("log.access", \.log.access, access).reloadable]

    /// A fraction is digits with a point between them: `Double("1e-3")` and `Double("inf")` are
    /// numbers, too.
    private static let access = Syntax<AccessSampling>(
        accepts: "\"all\", \"errors\", or a number between 0 and 1, such as 0.01",
        parse: { raw in
            switch raw {
            case .string("all"), .untyped("all"): .all
            case .string("errors"), .untyped("errors"): .errors
            case .number(let share): sampling(share)
            case .untyped(let text)
            where text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e }:
                Double(text).flatMap(sampling)
            default: nil
            }
        },
        show: { sampling in
            switch sampling {
            case .all: "\"all\""
            case .errors: "\"errors\""
            case .share(let share): "\(share)"
            }
        })

    private static func sampling(_ share: Double) -> AccessSampling? {
        share >= AccessSampling.leastShare && share < 1 ? .share(share) : nil
    }
}
