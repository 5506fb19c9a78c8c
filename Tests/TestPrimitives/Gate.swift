internal import Glibc

/// Holds the threads that call ``hold()`` where they are until the test lets them go.
///
/// A lane or a queue blocks on a pipe; the test itself only suspends, because the threads of Swift
/// tasks are few.
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

    /// Returns once `count` threads have come to the gate.
    public func await(_ count: Int = 1) async {
        await held.reaches(count)
    }

    public func release(_ count: Int = 1) {
        let bytes = [UInt8](repeating: 1, count: count)
        write(writeEnd, bytes, count)
    }
}
