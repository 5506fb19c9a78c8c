import Glibc

/// Holds the queue that calls ``hold()`` where it is until the test lets go.
///
/// The queue blocks on a pipe; the test itself only suspends, because the threads of Swift tasks
/// are few.
final class Gate: Sendable {
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let readEnd: Int32
    private let writeEnd: Int32

    init() {
        (arrivals, arrival) = AsyncStream.makeStream()
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
        arrival.yield()
        var byte: UInt8 = 0
        while read(readEnd, &byte, 1) < 0, errno == EINTR {}
    }

    func awaitArrival() async {
        for await _ in arrivals { return }
    }

    func release() {
        var byte: UInt8 = 1
        write(writeEnd, &byte, 1)
    }
}

/// Gives way to other tasks until `condition` holds.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
