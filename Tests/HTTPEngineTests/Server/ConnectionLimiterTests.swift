import Networking
import Testing

@testable import HTTPEngine

@Suite struct ConnectionLimiterTests {
    private let one = IPAddress(v4: 1)
    private let other = IPAddress(v4: 2)

    @Test func aClientHasAsManyConnectionsAsItsLimit() {
        let limiter = ConnectionLimiter(limit: 9, clientLimit: 2)
        #expect(limiter.acquire(one))
        #expect(limiter.acquire(one))
        #expect(!limiter.acquire(one))
        #expect(limiter.acquire(other))
    }

    @Test func theAddressesOfOneIPv6NetworkAreOneClient() {
        let limiter = ConnectionLimiter(limit: 9, clientLimit: 2)
        let prefix: UInt64 = 0x2001_0db8_0000_0001
        #expect(limiter.acquire(IPAddress(v6: prefix, 1)))
        #expect(limiter.acquire(IPAddress(v6: prefix, .max)))
        #expect(!limiter.acquire(IPAddress(v6: prefix, 2)))
        #expect(limiter.acquire(IPAddress(v6: prefix + 1, 2)))
        limiter.release(IPAddress(v6: prefix, 1))
        #expect(limiter.acquire(IPAddress(v6: prefix, 3)))
    }

    @Test func theClientsOfASiteHaveAsManyConnectionsAsItsLimitTogether() {
        let limiter = ConnectionLimiter(limit: 99, clientLimit: 9, siteLimit: 4)
        let prefix: UInt64 = 0x2001_0db8_0000_0000
        let clients = (0..<5).map { IPAddress(v6: prefix + $0, 1) }
        for client in clients.prefix(4) { #expect(limiter.acquire(client)) }
        #expect(!limiter.acquire(clients[4]) && !limiter.acquire(clients[0]))
        #expect(limiter.acquire(IPAddress(v6: prefix + 0x1_0000, 1)))
        #expect(limiter.rejections.counts == [.siteLimit: 2])
        limiter.release(clients[0])
        #expect(limiter.acquire(clients[4]))
        // A connection whose client is named later.
        #expect(limiter.acquire(nil) && !limiter.assign(clients[1]))
    }

    @Test func aReleasedConnectionCanBeReplaced() {
        let limiter = ConnectionLimiter(limit: 9, clientLimit: 1)
        #expect(limiter.acquire(one))
        limiter.release(one)
        #expect(limiter.total == 0)
        #expect(limiter.acquire(one))
    }

    @Test func theTotalLimitHoldsForNewClientsToo() {
        let limiter = ConnectionLimiter(limit: 1, clientLimit: 1)
        #expect(limiter.acquire(one))
        #expect(!limiter.acquire(other))
        #expect(limiter.total == 1)
    }

    @Test func aConnectionWithoutAClientCountsInTheTotal() {
        let limiter = ConnectionLimiter(limit: 2, clientLimit: 1)
        #expect(limiter.acquire(nil))
        #expect(limiter.acquire(nil))
        #expect(!limiter.acquire(nil) && !limiter.acquire(one))
        #expect(limiter.assign(one))
        limiter.release(one)
        limiter.release(nil)
        #expect(limiter.total == 0)
    }

    @Test func aConnectionThatCouldNotBeAssignedIsReleasedWithoutAClient() {
        let limiter = ConnectionLimiter(limit: 9, clientLimit: 1)
        #expect(limiter.acquire(one) && limiter.acquire(nil))
        #expect(!limiter.assign(one))
        limiter.release(nil)
        #expect(limiter.total == 1)
        #expect(!limiter.acquire(one))
        limiter.release(one)
        #expect(limiter.acquire(one))
    }

    @Test func acceptedAndRejectedConnectionsAreCounted() {
        let limiter = ConnectionLimiter(limit: 2, clientLimit: 1)
        #expect(limiter.acquire(one) && !limiter.acquire(one))
        #expect(limiter.acquire(nil) && !limiter.assign(one))
        #expect(!limiter.acquire(other))
        #expect(limiter.accepted == 2)
        #expect(limiter.rejections.counts == [.clientLimit: 2, .connectionLimit: 1])
    }
}
