internal import Dispatch

/// The time since this value was made, for metrics. Read from the monotonic clock as a number: the
/// arithmetic of `ContinuousClock` takes several times as long as reading the clock.
public struct ElapsedTime: Sendable {
    private let start = DispatchTime.now().uptimeNanoseconds

    public init() {}

    public var nanoseconds: Int {
        Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds &- start)
    }
}
