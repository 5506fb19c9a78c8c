import Glibc
import Synchronization

/// Holds the lanes that call ``hold()`` where they are until the test lets them go.
///
/// A lane blocks on a pipe; the test itself only suspends, because the threads of Swift tasks are
/// few.
final class Gate: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32
    private let held = Atomic<Int>(0)

    init() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { fatalError("no pipe: \(errno)") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func hold() {
        held.add(1, ordering: .sequentiallyConsistent)
        var byte: UInt8 = 0
        while read(readEnd, &byte, 1) < 0, errno == EINTR {}
    }

    /// Returns once `count` lanes have come to the gate.
    func await(_ count: Int = 1) async {
        await eventually { self.held.load(ordering: .sequentiallyConsistent) >= count }
    }

    func release(_ count: Int = 1) {
        let bytes = [UInt8](repeating: 1, count: count)
        write(writeEnd, bytes, count)
    }
}

/// Gives way to other tasks until `condition` holds.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
