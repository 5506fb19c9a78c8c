import Testing

@testable import AuthCore

struct InFlightTests {
    @Test func noMoreThanTheLimitIsUnderWayForOneKey() async {
        let flights = InFlight(limit: 1)
        let inner = await flights.run("a") {
            let second = await flights.run("a") { 1 }
            let other = await flights.run("b") { 2 }
            return (second, other)
        }
        #expect(inner?.0 == nil && inner?.1 == 2)
        #expect(await flights.run("a") { 3 } == 3)
    }
}
