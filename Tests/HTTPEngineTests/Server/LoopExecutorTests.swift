import CSocket
import Glibc
import Synchronization
import TestPrimitives
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(10))) struct LoopExecutorTests {
    private let executor: LoopExecutor

    init() throws { executor = try LoopExecutor(label: "test") }

    @Test func aJobEndsTheWaitAndRunsAfterTheTurn() async {
        // Often, because the job may come before, in and after the wait.
        for _ in 0..<500 {
            let done = Latch()
            let order = Record<String>()
            executor.enqueueTurn { [executor] in
                _ = executor.waitForEvents()
                order.add("turn")
            }
            executor.perform {
                order.add("job")
                done.open()
            }
            await done.wait()
            #expect(order.entries == ["turn", "job"])
        }
    }

    @Test func nothingIsWaitedForWhileThereAreJobs() async {
        let hadJobs = Mutex(false)
        let done = Latch()
        executor.enqueueTurn { [executor] in
            executor.perform { done.open() }
            hadJobs.withLock { $0 = executor.hasJobs }
            _ = executor.waitForEvents()
        }
        await done.wait()
        #expect(hadJobs.withLock { $0 } && !executor.hasJobs)
    }

    @Test func anEventEndsTheWait() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        defer { for end in ends { close(end) } }
        #expect(csocket_watch(executor.epoll, EPOLL_CTL_ADD, readEnd, EPOLLIN.rawValue) == 0)
        let ready = Record<Int32>()
        let done = Latch()
        executor.enqueueTurn { [executor] in
            for descriptor in executor.waitForEvents() { ready.add(descriptor) }
            done.open()
        }
        #expect(write(writeEnd, "x", 1) == 1)
        await done.wait()
        #expect(ready.entries == [readEnd])
    }

    @Test func aWaitEndsAfterItsTime() async {
        let done = Latch()
        let ready = Record<Int32>()
        executor.enqueueTurn { [executor] in
            for descriptor in executor.waitForEvents(milliseconds: 1) { ready.add(descriptor) }
            done.open()
        }
        await done.wait()
        #expect(ready.entries.isEmpty)
    }
}

extension LoopExecutor {
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
