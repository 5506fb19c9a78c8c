internal import Glibc

/// How far a proof of work has come. It has no end that could be known: each try succeeds with the
/// same probability, so the bar shows how likely it was to have succeeded by now.
struct Progress: Equatable, Sendable {
    let elapsed: Duration
    let tries: Int
    /// Tries that one success takes on average.
    let expectedTries: Double

    /// Tries per second; 0 before the first.
    var rate: Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(tries) / seconds : 0
    }

    /// The probability that so many tries succeed at least once.
    var likelihood: Double {
        1 - pow(1 - 1 / max(1, expectedTries), Double(tries))
    }

    /// One line of at most `width` characters: bar, tries of those expected, rate, elapsed, chance,
    /// and what one success takes on average. What does not fit is left out from the right.
    func render(width: Int) -> String {
        var parts = [
            "\(tries) of about \(Int(expectedTries)) tries",
            "\(Self.decimal(elapsed / .seconds(1))) s",
        ]
        if rate > 0 {
            parts.insert("\(Self.decimal(rate))/s", at: 1)
            parts.append("\(Int((likelihood * 100).rounded(.down))) % likely by now")
            parts.append("\(Self.span(expectedTries / rate)) on average")
        }
        var line = "proof of work"
        let bar = 20
        if line.count + bar + 3 <= width {
            let filled = min(bar, Int(likelihood * Double(bar)))
            line += " ["
            line += String(repeating: "#", count: filled)
            line += String(repeating: ".", count: bar - filled)
            line += "]"
        }
        for (index, part) in parts.enumerated() {
            let separator = index == 0 ? "  " : ", "
            guard line.count + separator.count + part.count <= width else { break }
            line += separator + part
        }
        return String(line.prefix(max(0, width)))
    }

    /// What remains on the screen once there is a solution.
    var conclusion: String {
        "proof of work solved: \(tries) tries in \(Self.decimal(elapsed / .seconds(1))) s"
    }

    /// One digit after the point, without Foundation's formatting.
    private static func decimal(_ value: Double) -> String {
        let tenths = Int(min(max(0, value), 1e12) * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<100: "\(decimal(seconds)) s"
        case ..<6000: "\(decimal(seconds / 60)) min"
        default: "\(decimal(seconds / 3600)) h"
        }
    }
}
