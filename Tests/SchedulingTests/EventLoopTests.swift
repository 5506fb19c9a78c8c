import CSocket
import Glibc
import Scheduling
import Synchronization
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventLoopTests {
    /// A loop that takes these turns.
    private func started(
        _ turn: @escaping @Sendable (EventLoop) -> Void
    ) throws -> EventLoop {
        let loop = try EventLoop(label: "test")
        loop.takeTurns { [unowned loop] in turn(loop) }
        loop.run()
        return loop
    }

    @Test func aJobEndsTheWaitAndRunsAfterTheTurn() async throws {
        // Often, because the job may come before, in and after the wait.
        for _ in 0..<500 {
            let done = Latch()
            let order = Record<String>()
            let loop = try started {
                _ = $0.waitForEvents()
                order.add("turn")
            }
            loop.perform {
                order.add("job")
                done.open()
            }
            await done.wait()
            // There may be more turns while the job is on its way to the queue.
            #expect(order.entries.first == "turn")
            loop.stop()
        }
    }

    @Test func nothingIsWaitedForWhileThereAreJobs() async throws {
        let hadJobs = Mutex(false)
        let done = Latch()
        let loop = try started { loop in
            loop.perform { done.open() }
            hadJobs.withLock { $0 = loop.hasJobs }
            _ = loop.waitForEvents()
            loop.stop()
        }
        await done.wait()
        #expect(hadJobs.withLock { $0 })
        withExtendedLifetime(loop) {}
    }

    @Test func anEventEndsTheWait() async throws {
        let pipe = Pipe()
        let ready = Record<Int32>()
        let done = Latch()
        let loop = try started { loop in
            for descriptor in loop.waitForEvents() { ready.add(descriptor) }
            loop.stop()
            done.open()
        }
        #expect(csocket_watch(loop.epoll, EPOLL_CTL_ADD, pipe.readEnd, EPOLLIN.rawValue) == 0)
        pipe.write()
        await done.wait()
        #expect(ready.entries == [pipe.readEnd])
    }

    @Test func aWaitEndsAfterItsTime() async throws {
        let done = Latch()
        let ready = Record<Int32>()
        let loop = try started { loop in
            for descriptor in loop.waitForEvents(milliseconds: 1) { ready.add(descriptor) }
            loop.stop()
            done.open()
        }
        await done.wait()
        #expect(ready.entries.isEmpty)
        withExtendedLifetime(loop) {}
    }

    @Test func whatWatchesADescriptorIsCalledInATurn() async throws {
        let loop = try EventLoop(label: "test")
        loop.run()
        let (first, second) = (Pipe(), Pipe())
        let (served, replaced) = (Level(), Level())
        loop.watch(first.readEnd) { [unowned loop] in
            #expect(loop.isCurrent)
            first.read()
            served.raise()
        }
        first.write()
        await served.reaches(1)
        first.write()
        await served.reaches(2)
        loop.watch(first.readEnd) {
            first.read()
            replaced.raise()
        }
        first.write()
        await replaced.reaches(1)

        loop.unwatch(first.readEnd)
        #expect(!loop.serve(first.readEnd))
        first.write()
        let other = Level()
        loop.watch(second.writeEnd, writes: true) { [unowned loop] in
            loop.unwatch(second.writeEnd)
            other.raise()
        }
        await other.reaches(1)
        #expect(served.value == 2 && replaced.value == 1 && !loop.isCurrent)
        loop.stop()
    }

    @Test func anActorOnALoopRunsBetweenItsTurns() async throws {
        let one = Confined(try EventLoop(label: "test")), other = Confined(one.loop)
        one.loop.run()
        for number in 1...100 {
            #expect(await one.next() == number)
            #expect(await other.next() == number)
        }
        one.loop.stop()
    }
}

private actor Confined {
    nonisolated let loop: EventLoop
    private var number = 0

    init(_ loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func next() -> Int {
        #expect(loop.isCurrent)
        number += 1
        return number
    }
}

private final class Pipe: Sendable {
    let readEnd: Int32
    let writeEnd: Int32

    init() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit { for end in [readEnd, writeEnd] { close(end) } }

    func write() { #expect(Glibc.write(writeEnd, "x", 1) == 1) }

    func read() {
        var byte: UInt8 = 0
        #expect(Glibc.read(readEnd, &byte, 1) == 1)
    }
}

extension EventLoop {
    /// The descriptors that are ready.
    fileprivate func waitForEvents(milliseconds: Int32 = -1) -> [Int32] {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 4) { descriptors in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 4) { events in
                let count = wait(for: milliseconds, descriptors, events)
                return Array(descriptors[..<max(0, count)])
            }
        }
    }
}
