/// Suspends the tasks that wait until it is opened. Blocks no thread.
public final class Latch: Sendable {
    private let level = Level()

    public init() {}

    public func wait() async { await level.reaches() }

    public func open() { level.raise() }
}
