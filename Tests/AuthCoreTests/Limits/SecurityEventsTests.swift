import AuthCore
import Networking
import TestPrimitives
import Testing

struct SecurityEventsTests {
    private let reports = Record<(event: SecurityEvent, count: Int)>()
    private let events: SecurityEvents

    init() {
        events = SecurityEvents { [reports] in reports.add(($0, $1)) }
    }

    private func event(
        _ kind: SecurityEvent.Kind = .tokenRejected, _ subject: String = "/a", _ client: UInt32 = 1,
        id: String = ""
    ) -> SecurityEvent {
        SecurityEvent(
            kind, subject: subject,
            by: Caller(
                address: IPAddress(v4: client), requestID: id, now: Instant(seconds: 0),
                arrival: .now))
    }

    @Test func theFirstIsReportedAtOnceAndTheOthersAsOne() {
        for number in 1...50 { events.record(event(id: "\(number)")) }
        #expect(reports.entries.map(\.count) == [1])
        #expect(reports.entries[0].event == event(id: "1"))
        events.flush()
        #expect(reports.entries.map(\.count) == [1, 49])
        #expect(reports.entries[1].event == event(id: "50"))
        events.flush()
        #expect(reports.entries.count == 2)
        events.record(event())
        #expect(reports.entries.map(\.count) == [1, 49, 1])
    }

    @Test func kindsSubjectsAndClientsAreToldApart() {
        let all = [
            event(), event(.attemptThrottled), event(.tokenRejected, "/b"),
            event(.tokenRejected, "/a", 2),
        ]
        for event in all { events.record(event) }
        #expect(reports.entries.map(\.event) == all)
    }

    @Test func manyClientsDoNotFloodTheLog() {
        for client in 0..<20_000 as Range<UInt32> {
            events.record(event(.tokenRejected, "/a", client))
        }
        #expect(reports.entries.count <= 4097)
        events.flush()
        #expect(reports.entries.map(\.count).reduce(0, +) == 20_000)
        #expect(reports.entries.count <= 4098)
    }
}
