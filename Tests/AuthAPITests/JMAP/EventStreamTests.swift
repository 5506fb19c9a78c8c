import AuthCore
import HTTPEngine
import LocalMail
import Networking
import Scheduling
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// The event source (RFC 8620 §7.3).
struct EventStreamTests {
    private let world: MailWorld
    private var api: APIWorld { world.api }

    init() throws {
        world = try MailWorld()
    }

    @Test func aDeliveryIsPushedAndTheStreamGoesOn() async throws {
        let (address, _, capability) = try await world.mailbox()
        let response = await open("?types=*&closeafter=no&ping=0", capability)
        #expect(response.status == .ok)
        #expect(response.header("Content-Type") == "text/event-stream")
        #expect(!response.body.isEmpty)
        var pieces = try #require(response.stream).makeAsyncIterator()
        for _ in 0..<2 {
            try await world.deliver(SampleMessage.text, to: address)
            let event = try Event(try #require(await pieces.next()))
            #expect(event.name == "state")
            #expect(event.data.text("@type") == "StateChange")
            let changed = try #require(event.data.object("changed")?.object(address))
            #expect(Set(changed.names).isSuperset(of: ["Email", "EmailDelivery", "Thread"]))
            let mail = world.mail(of: address)
            #expect(changed.text("Email") == mail.states[.email])
        }
    }

    @Test func onlyTheTypesThatWereAskedForAreSent() async throws {
        let (address, _, capability) = try await world.mailbox()
        let response = await open("?types=EmailDelivery,Nonsense&closeafter=state", capability)
        try await world.deliver(SampleMessage.text, to: address)
        var events: [Event] = []
        // It ends after one event.
        for await piece in try #require(response.stream) { events.append(try Event(piece)) }
        #expect(events.count == 1)
        #expect(events[0].data.object("changed")?.object(address)?.names == ["EmailDelivery"])
    }

    @Test func whatWasMissedSinceTheLastEventComesAtOnce() async throws {
        let (address, _, capability) = try await world.mailbox()
        let first = await open("?types=*&closeafter=state", capability)
        try await world.deliver(SampleMessage.text, to: address)
        var pieces = try #require(first.stream).makeAsyncIterator()
        let event = try Event(try #require(await pieces.next()))
        try await world.deliver(SampleMessage.text, to: address)
        for id in [event.id, "of an earlier process"] {
            let again = await open(
                "?types=Email&closeafter=state", capability, headers: [("Last-Event-ID", id)])
            var missed = try #require(again.stream).makeAsyncIterator()
            let state = try Event(try #require(await missed.next()))
            #expect(
                state.data.object("changed")?.object(address)?.text("Email")
                    == world.mail(of: address).states[.email])
        }
    }

    @Test func aPingSaysTheIntervalThatTheServerKeeps() async throws {
        let (address, _, _) = try await world.mailbox()
        for (asked, kept) in [(1, 5), (30, 30), (100_000, 900)] {
            let request = Request(method: .get, target: "/jmap/eventsource/?ping=\(asked)")
            let wishes = try EventWishes(request)
            #expect(wishes.pingSeconds == kept)
            let ticks = Level()
            let events = EventStream(of: world.mail(of: address), wishes) { time in
                // The first wait is over at once, and the end of the stream is far away.
                if time - ContinuousClock.now < .seconds(1_000), ticks.value == 0 {
                    return ticks.raise()
                }
                await Latch().wait()
                throw CancellationError()
            }
            var pieces = events.open(holding: 0).makeAsyncIterator()
            let ping = try Event(try #require(await pieces.next()))
            #expect(ping.name == "ping" && ping.data.number("interval") == Int64(kept))
        }
        #expect(
            try EventWishes(Request(method: .get, target: "/jmap/eventsource/?ping=0")).pingSeconds
                == nil)
    }

    @Test func theStreamEndsWithItsAccount() async throws {
        let (address, _, capability) = try await world.mailbox()
        let response = await open("", capability)
        world.local.remove(accountID: address)
        for await piece in try #require(response.stream) {
            // The end of the account changes its states.
            #expect(try Event(piece).name == "state")
        }
    }

    @Test(arguments: ["?closeafter=never", "?ping=-1", "?ping=x", "?ping=1&ping=2"])
    func wishesThatAreNotKnownAreMalformed(query: String) async throws {
        let capability = try await world.mailbox().capability
        let response = await open(query, capability)
        #expect(response.status == .badRequest)
        _ = try response.agentError
    }

    @Test func aClientHasSixteenStreamsAndGetsThePlaceOfOneThatEndedBack() async throws {
        let capability = try await world.mailbox().capability
        let waits = api.agent.mail.work.waits
        var responses: [Response] = []
        for _ in 0..<16 { responses.append(await open("", capability)) }
        #expect(responses.allSatisfy { $0.status == .ok })
        let rejected = await open("", capability)
        #expect(rejected.status == .tooManyRequests)
        #expect(rejected.header("Retry-After") != nil)
        responses = []
        while waits.occupancy.keys > 0 { await Task.yield() }
        #expect(await open("", capability).status == .ok)
    }

    private func open(
        _ query: String, _ capability: String, headers: [(String, String)] = []
    ) async -> Response {
        await api.call(.get, "/jmap/eventsource/\(query)", bearer: capability, headers: headers)
    }

    /// One event in the form of the HTML standard, §9.2.6.
    private struct Event {
        var name = ""
        var id = ""
        let data: JSONObject

        init(_ piece: [UInt8]) throws {
            let text = String(decoding: piece, as: UTF8.self)
            #expect(text.hasSuffix("\n\n"))
            var data: JSONValue?
            for line in text.split(separator: "\n") {
                if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                if line.hasPrefix("data: ") {
                    data = try JSONValue.parse(Array(line.dropFirst(6).utf8))
                }
            }
            self.data = try #require(data?.object)
        }
    }
}
