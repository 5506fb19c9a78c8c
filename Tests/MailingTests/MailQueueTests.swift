import AuthCore
import Fetching
import Networking
import Scheduling
import Synchronization
import TestPrimitives
import Testing

@testable import Mailing

@Suite struct MailQueueTests {
    /// A relay that gives prepared results, and a queue that sends to it without waiting between
    /// attempts.
    private final class World: Sendable {
        let sent = Record<OutboundMail>()
        let reports = Record<String>()
        let pauses = Record<Duration>()
        let queue: MailQueue

        /// - Parameter errors: what the first attempts end with; then every message is taken.
        init(
            failing errors: [any Error] = [], width: Int = 4, depth: Int = 256,
            deliver: (@Sendable (OutboundMail) async throws -> Void)? = nil,
            sleep: (@Sendable (Duration) async throws -> Void)? = nil
        ) {
            let (sent, reports, pauses) = (sent, reports, pauses)
            let results = Errors(errors)
            var settings = MailQueue.Settings(
                sender: Samples.sender(), serverName: "auth.example.com",
                publicURL: Samples.publicURL)
            settings.width = width
            settings.depth = depth
            queue = MailQueue(
                settings,
                deliver: deliver ?? { mail in
                    if let error = results.next() { throw error }
                    sent.add(mail)
                },
                report: { reports.add($0.name) }, random: { [UInt8](repeating: 7, count: $0) },
                sleep: sleep ?? { pauses.add($0) })
        }
    }

    private final class Errors: Sendable {
        private let rest: Mutex<[any Error]>
        init(_ errors: [any Error]) { rest = Mutex(errors) }
        func next() -> (any Error)? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    @Test func aMessageIsGivenToTheRelayOnce() async {
        let world = World()
        #expect(world.queue.send(for: Samples.client) { Samples.notice() })
        await world.queue.finish()
        #expect(world.sent.entries.map(\.recipient) == ["ada@example.org"])
        #expect(world.sent.entries.map(\.sender) == ["postern@example.com"])
        #expect(world.queue.results.value(.sent) == 1)
        #expect(world.reports.entries.isEmpty)
    }

    @Test func nothingIsSentWithoutAMessage() async {
        let world = World()
        #expect(world.queue.send(for: Samples.client) { nil })
        await world.queue.finish()
        #expect(world.sent.entries.isEmpty)
    }

    @Test func anAttemptThatFailsForTheMomentIsRepeated() async {
        let world = World(failing: [
            RelayError.unreachable, RelayError.timedOut, RelayError.rejected(code: 451),
        ])
        _ = world.queue.send(for: nil) { Samples.notice() }
        await world.queue.finish()
        #expect(world.sent.entries.count == 1)
        #expect(world.pauses.entries == [5, 30, 120].map { .seconds($0) })
        #expect(world.queue.results.value(.deferred) == 3)
        #expect(world.reports.entries == ["unavailable", "availableAgain"])
    }

    @Test(arguments: [RelayError.rejected(code: 550), .loginRejected])
    func aMessageThatTheRelayRejectsForGoodIsNotRepeated(error: RelayError) async {
        let world = World(failing: [error])
        _ = world.queue.send(for: nil) { Samples.notice() }
        await world.queue.finish()
        #expect(world.sent.entries.isEmpty && world.pauses.entries.isEmpty)
        #expect(world.queue.results.value(.failed) == 1)
        #expect(world.reports.entries == ["failed after 1"])
    }

    @Test func aMessageIsGivenUpWhileItsLinkIsStillValid() async {
        let world = World(failing: Array(repeating: RelayError.unreachable, count: 6))
        _ = world.queue.send(for: nil) { Samples.notice() }
        await world.queue.finish()
        #expect(world.reports.entries == ["unavailable", "failed after 6"])
        let waited = world.pauses.entries.reduce(.zero, +)
        #expect(waited > .seconds(600))
        // With the longest timeout of six attempts.
        #expect(waited + .seconds(360) < EmailLink.Purpose.passwordReset.lifetime)
    }

    @Test func aMessageThatCannotBeMadeIsReported() async {
        let world = World()
        _ = world.queue.send(for: nil) { throw StoreBusy() }
        _ = world.queue.send(for: nil) { throw RateLimited(retryAfter: .seconds(1)) }
        await world.queue.finish()
        #expect(world.reports.entries == ["unprepared"])
        #expect(world.queue.results.value(.failed) == 1)
        #expect(world.queue.results.value(.dropped) == 1)
    }

    @Test func aClientHasAtMostItsShareAndAnotherOneStillFindsAPlace() async {
        let gate = Latch()
        let world = World(width: 1, depth: 8, deliver: { _ in await gate.wait() })
        var taken = 0
        while taken < 100, world.queue.send(for: Samples.client, { Samples.notice() }) {
            taken += 1
        }
        #expect(taken < 9)
        #expect(world.queue.results.value(.dropped) == 1)
        #expect(world.queue.send(for: IPAddress(v4: 0xc633_6401)) { Samples.notice() })
        gate.open()
        await world.queue.finish()
    }

    @Test func aStoppedQueueEndsWhatWaitsAndTakesNothingMore() async {
        let begun = Latch()
        let world = World(
            failing: [RelayError.unreachable],
            sleep: { _ in
                begun.open()
                try await Task.sleep(for: .seconds(86_400))
            })
        _ = world.queue.send(for: nil) { Samples.notice() }
        await begun.wait()
        world.queue.stop()
        await world.queue.finish()
        _ = world.queue.send(for: nil) { Samples.notice() }
        await world.queue.finish()
        #expect(world.sent.entries.isEmpty)
    }
}

extension MailQueue.Report {
    fileprivate var name: String {
        switch self {
        case .unavailable: "unavailable"
        case .availableAgain: "availableAgain"
        case .failed(_, _, let attempts): "failed after \(attempts)"
        case .unprepared: "unprepared"
        }
    }
}
