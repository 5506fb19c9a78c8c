internal import Glibc

/// Shows a solver's progress on standard error: one line that is rewritten on a terminal, a line
/// every ten seconds elsewhere.
struct ProgressDisplay: Sendable {
    let isTerminal: Bool

    static func onStandardError() -> ProgressDisplay {
        ProgressDisplay(isTerminal: isatty(STDERR_FILENO) == 1)
    }

    /// Solves while showing how it goes.
    /// - Parameter limit: after this the solver is stopped, and there is no solution.
    func solve(_ solver: Solver, within limit: Duration) async throws -> Solution? {
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
                // Cancelled while it sleeps, the loop ends.
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
            Output.complain("")
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
            Output.complain(progress.render(width: 200))
        }
    }

    /// Back to the first column, the line, then clear what a longer one left behind.
    private func rewrite(_ line: String) {
        Output.complain("\r\(line)\u{1b}[K", end: "")
    }

    /// One less than the terminal has, which wraps after its last column.
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
