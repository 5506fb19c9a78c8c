internal import Glibc
internal import Platform

/// The progress of a proof of work. Each try succeeds with the same probability, so the end is not
/// known. The bar shows the probability that a solution has been found by now.
struct Progress: Equatable, Sendable {
    let elapsed: Duration
    let tries: Int
    /// The mean number of tries for one success.
    let expectedTries: Double

    /// Tries per second; 0 before the first.
    var rate: Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(tries) / seconds : 0
    }

    /// The probability of at least one success in this number of tries.
    var likelihood: Double {
        1 - pow(1 - 1 / max(1, expectedTries), Double(tries))
    }

    /// One line of at most `width` characters: bar, number of tries and the mean, rate, time,
    /// probability of a success by now, and the mean time to a success. If it is too long, parts
    /// are left out, beginning with the last one.
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

    /// The line that stays on the screen after a solution was found.
    var conclusion: String {
        "proof of work solved: \(tries) tries in \(Self.decimal(elapsed / .seconds(1))) s"
    }

    /// One digit after the point.
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

/// Shows the progress of a solver on standard error: on a terminal one line that is rewritten,
/// elsewhere a line every ten seconds.
public struct ProgressDisplay: Sendable {
    let isTerminal: Bool

    public static func onStandardError() -> ProgressDisplay {
        ProgressDisplay(isTerminal: isatty(STDERR_FILENO) == 1)
    }

    /// Runs the solver and shows its progress.
    /// - Parameter limit: after this time the solver is stopped without a solution.
    public func solve(_ solver: Solver, within limit: Duration) async throws -> Solution? {
        let start = ContinuousClock.now
        let watcher = Task {
            var shown = start
            while !Task.isCancelled {
                let elapsed = ContinuousClock.now - start
                if elapsed >= limit { solver.stop() }
                let interval: Duration = isTerminal ? .milliseconds(100) : .seconds(10)
                if ContinuousClock.now - shown >= interval {
                    shown = .now
                    show(progress(of: solver, since: start))
                }
                // A cancelled sleep ends the loop.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        let result: Result<Solution?, any Error>
        do {
            result = .success(try await solver.solve())
        } catch {
            result = .failure(error)
        }
        watcher.cancel()
        await watcher.value
        let solution = try result.get()
        if isTerminal {
            let end = progress(of: solver, since: start)
            rewrite(solution == nil ? end.render(width: Self.width) : end.conclusion)
            Output.message("")
        }
        return solution
    }

    private func progress(of solver: Solver, since start: ContinuousClock.Instant) -> Progress {
        Progress(
            elapsed: .now - start, tries: solver.tries,
            expectedTries: solver.assignment.expectedTries)
    }

    private func show(_ progress: Progress) {
        if isTerminal {
            rewrite(progress.render(width: Self.width))
        } else {
            Output.message(progress.render(width: 200))
        }
    }

    /// Writes the line from the first column and clears the rest of a longer one.
    private func rewrite(_ line: String) {
        Output.message("\r\(line)\u{1b}[K", end: "")
    }

    /// One column less than the terminal has, because it wraps after the last one.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 79
        }
        return Int(size.ws_col) - 1
    }
}

extension ContinuousClock.Instant {
    fileprivate static func - (left: Self, right: Self) -> Duration { right.duration(to: left) }
}
