/// Closed until it is opened; whoever waits does so without a thread.
public final class Latch: Sendable {
    private let level = Level()

    public init() {}

    public func wait() async { await level.reaches() }

    public func open() { level.raise() }
}
