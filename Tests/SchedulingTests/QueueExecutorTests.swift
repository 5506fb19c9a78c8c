import Scheduling
import Testing

@Suite(.timeLimit(.minutes(10))) struct QueueExecutorTests {
    @Test func anActorsJobsRunOneAtATime() async {
        let notes = Notes()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 { group.addTask { await notes.add(number) } }
        }
        #expect(await notes.all.sorted() == Array(0..<500))
    }

    @Test func jobsRunInTheOrderOfTheirEnqueueing() async {
        let notes = Notes()
        for number in 0..<100 {
            notes.executor.perform { notes.assumeIsolated { $0.add(number) } }
        }
        // Enqueued after all of them.
        #expect(await notes.all == Array(0..<100))
    }

    @Test func aBlockOnTheQueueIsIsolatedToTheActor() async {
        let notes = Notes()
        notes.executor.perform {
            notes.preconditionIsolated()
            notes.assumeIsolated { $0.add(1) }
        }
        #expect(await notes.all == [1])
    }

    @Test func assumingIsolationElsewhereTraps() async {
        await #expect(processExitsWith: .failure) {
            assumeIsolation(of: Notes())
        }
    }

    @Test func twoActorsOnOneExecutorShareTheirIsolation() async {
        let first = Notes()
        let second = Notes(on: first.executor)
        await first.tell(second, 5)
        #expect(await second.all == [5])
    }
}

private func assumeIsolation(of notes: Notes) {
    notes.assumeIsolated { $0.add(1) }
}

private actor Notes {
    nonisolated let executor: QueueExecutor
    private(set) var all: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(on executor: QueueExecutor = QueueExecutor(label: "notes")) {
        self.executor = executor
    }

    func add(_ number: Int) {
        all.append(number)
    }

    func tell(_ other: Notes, _ number: Int) {
        other.assumeIsolated { $0.add(number) }
    }
}
