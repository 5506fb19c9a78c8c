internal import Glibc

/// Blocks the threads that call ``hold()`` until the test calls ``release(_:)``.
///
/// The threads of a pool or a queue block on a pipe. The test itself only suspends, because Swift
/// tasks have few threads.
public final class Gate: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32
    private let held = Level()

    public init() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { fatalError("no pipe: \(errno)") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    public func hold() {
        held.raise()
        var byte: UInt8 = 0
        while read(readEnd, &byte, 1) < 0, errno == EINTR {}
    }

    /// Returns once `count` threads have called ``hold()``.
    public func await(_ count: Int = 1) async {
        await held.reaches(count)
    }

    public func release(_ count: Int = 1) {
        let bytes = [UInt8](repeating: 1, count: count)
        write(writeEnd, bytes, count)
    }
}
