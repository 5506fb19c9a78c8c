import Testing

@testable import HTTPEngine

@Suite struct ConnectionCensusTests {
    private let one = PeerAddress(v4: 1, port: 10)
    private let other = PeerAddress(v4: 2, port: 10)

    @Test func aClientIsCountedByItsAddressWhateverThePort() {
        let census = ConnectionCensus(most: 9, mostPerClient: 2)
        #expect(census.admit(one))
        #expect(census.admit(PeerAddress(v4: 1, port: 11)))
        #expect(!census.admit(PeerAddress(v4: 1, port: 12)))
        #expect(census.admit(other))
    }

    @Test func theAddressesOfOneIPv6SubscriberAreOneClient() {
        let census = ConnectionCensus(most: 9, mostPerClient: 2)
        let prefix: UInt64 = 0x2001_0db8_0000_0001
        #expect(census.admit(PeerAddress(v6: prefix, 1)))
        #expect(census.admit(PeerAddress(v6: prefix, .max)))
        #expect(!census.admit(PeerAddress(v6: prefix, 2)))
        #expect(census.admit(PeerAddress(v6: prefix + 1, 2)))
        census.leave(PeerAddress(v6: prefix, 1))
        #expect(census.admit(PeerAddress(v6: prefix, 3)))
    }

    @Test func whoeverLeavesMakesRoom() {
        let census = ConnectionCensus(most: 9, mostPerClient: 1)
        #expect(census.admit(one))
        census.leave(PeerAddress(v4: 1, port: 99))
        #expect(census.total == 0)
        #expect(census.admit(one))
    }

    @Test func theCapOfAllHoldsForNewClientsToo() {
        let census = ConnectionCensus(most: 1, mostPerClient: 1)
        #expect(census.admit(one))
        #expect(!census.admit(other))
        #expect(census.total == 1)
    }

    @Test func whoIsNamedLaterCountsAmongAllBeforeThat() {
        let census = ConnectionCensus(most: 2, mostPerClient: 1)
        #expect(census.admit(nil))
        #expect(census.admit(nil))
        #expect(!census.admit(nil) && !census.admit(one))
        #expect(census.name(one))
        census.leave(one)
        census.leave(nil)
        #expect(census.total == 0)
    }

    @Test func whoFindsItsClientFullLeavesAsOneWithoutAName() {
        let census = ConnectionCensus(most: 9, mostPerClient: 1)
        #expect(census.admit(one) && census.admit(nil))
        #expect(!census.name(one))
        census.leave(nil)
        #expect(census.total == 1)
        #expect(!census.admit(one))
        census.leave(one)
        #expect(census.admit(one))
    }
}

@Suite struct MomentTests {
    @Test func spansAreNeitherNegativeNorEndless() {
        #expect(Moment.Span(.milliseconds(1_500)).nanoseconds == 1_500_000_000)
        #expect(Moment.Span(.seconds(-5)).nanoseconds == 0)
        let long = Moment.Span(.seconds(Int64.max))
        #expect(Moment.now() + long > Moment.now())
    }

    @Test func theTickFitsTheShortestDeadline() {
        func tick(_ adjust: (inout ServerConfiguration) -> Void) -> Int64 {
            var configuration = ServerConfiguration()
            adjust(&configuration)
            let router = Router(groups: []) { fault, _ in Response(status: fault.status) }
            return ServerContext(configuration: configuration, router: router, hooks: ServerHooks())
                .tick.nanoseconds
        }
        #expect(tick { $0.idleDeadline = .milliseconds(80) } == 10_000_000)
        #expect(tick { $0.headDeadline = .zero } == 5_000_000)
        #expect(tick { $0.lingerDeadline = .seconds(99) } == 250_000_000)
    }
}
