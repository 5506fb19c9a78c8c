import Testing

@testable import HTTPEngine

@Suite struct ConnectionLimiterTests {
    private let one = PeerAddress(v4: 1, port: 10)
    private let other = PeerAddress(v4: 2, port: 10)

    @Test func aClientIsCountedByItsAddressWhateverThePort() {
        let limiter = ConnectionLimiter(most: 9, mostPerClient: 2)
        #expect(limiter.admit(one))
        #expect(limiter.admit(PeerAddress(v4: 1, port: 11)))
        #expect(!limiter.admit(PeerAddress(v4: 1, port: 12)))
        #expect(limiter.admit(other))
    }

    @Test func theAddressesOfOneIPv6SubscriberAreOneClient() {
        let limiter = ConnectionLimiter(most: 9, mostPerClient: 2)
        let prefix: UInt64 = 0x2001_0db8_0000_0001
        #expect(limiter.admit(PeerAddress(v6: prefix, 1)))
        #expect(limiter.admit(PeerAddress(v6: prefix, .max)))
        #expect(!limiter.admit(PeerAddress(v6: prefix, 2)))
        #expect(limiter.admit(PeerAddress(v6: prefix + 1, 2)))
        limiter.leave(PeerAddress(v6: prefix, 1))
        #expect(limiter.admit(PeerAddress(v6: prefix, 3)))
    }

    @Test func whoeverLeavesMakesRoom() {
        let limiter = ConnectionLimiter(most: 9, mostPerClient: 1)
        #expect(limiter.admit(one))
        limiter.leave(PeerAddress(v4: 1, port: 99))
        #expect(limiter.total == 0)
        #expect(limiter.admit(one))
    }

    @Test func theCapOfAllHoldsForNewClientsToo() {
        let limiter = ConnectionLimiter(most: 1, mostPerClient: 1)
        #expect(limiter.admit(one))
        #expect(!limiter.admit(other))
        #expect(limiter.total == 1)
    }

    @Test func whoIsNamedLaterCountsAmongAllBeforeThat() {
        let limiter = ConnectionLimiter(most: 2, mostPerClient: 1)
        #expect(limiter.admit(nil))
        #expect(limiter.admit(nil))
        #expect(!limiter.admit(nil) && !limiter.admit(one))
        #expect(limiter.name(one))
        limiter.leave(one)
        limiter.leave(nil)
        #expect(limiter.total == 0)
    }

    @Test func whoFindsItsClientFullLeavesAsOneWithoutAName() {
        let limiter = ConnectionLimiter(most: 9, mostPerClient: 1)
        #expect(limiter.admit(one) && limiter.admit(nil))
        #expect(!limiter.name(one))
        limiter.leave(nil)
        #expect(limiter.total == 1)
        #expect(!limiter.admit(one))
        limiter.leave(one)
        #expect(limiter.admit(one))
    }
}

@Suite struct MonotonicTimeTests {
    @Test func spansAreNeitherNegativeNorEndless() {
        #expect(MonotonicTime.Interval(.milliseconds(1_500)).nanoseconds == 1_500_000_000)
        #expect(MonotonicTime.Interval(.seconds(-5)).nanoseconds == 0)
        let long = MonotonicTime.Interval(.seconds(Int64.max))
        #expect(MonotonicTime.now() + long > MonotonicTime.now())
    }

    @Test func theTickFitsTheShortestDeadline() {
        func tick(_ adjust: (inout ServerConfiguration) -> Void) -> Int64 {
            var configuration = ServerConfiguration()
            adjust(&configuration)
            return ServerContext(configuration: configuration, hooks: ServerHooks())
                .tick.nanoseconds
        }
        #expect(tick { $0.idleDeadline = .milliseconds(80) } == 10_000_000)
        #expect(tick { $0.headDeadline = .zero } == 5_000_000)
        #expect(tick { $0.lingerDeadline = .seconds(99) } == 250_000_000)
    }
}
