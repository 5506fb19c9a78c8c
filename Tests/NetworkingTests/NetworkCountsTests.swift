import Networking
import Testing

struct NetworkCountsTests {
    @Test func anIPv6ClientIsA64AndItsSiteA48() {
        var counts = NetworkCounts()
        let prefix: UInt64 = 0x2001_0db8_0000_0001
        counts.add(IPAddress(v6: prefix, 1))
        counts.add(IPAddress(v6: prefix, .max))
        counts.add(IPAddress(v6: prefix + 1, 1))
        #expect(counts.count(of: IPAddress(v6: prefix, 7)) == (2, 3))
        #expect(counts.count(of: IPAddress(v6: prefix + 2, 7)) == (0, 3))
        #expect(counts.count(of: IPAddress(v6: prefix + 0x1_0000, 7)) == (0, 0))
    }

    @Test func anIPv4ClientIsAnAddressAndItsSiteA24() {
        var counts = NetworkCounts()
        counts.add(IPAddress(v4: 0xc000_0201))
        // The same client, as a socket for both families reports it.
        counts.add(IPAddress(v6: 0, 0xffff_c000_0201))
        counts.add(IPAddress(v4: 0xc000_02ff))
        #expect(counts.count(of: IPAddress(v4: 0xc000_0201)) == (2, 3))
        #expect(counts.count(of: IPAddress(v4: 0xc000_0301)) == (0, 0))
    }

    @Test func whatIsRemovedIsNotCounted() {
        var counts = NetworkCounts()
        for _ in 0..<3 {
            counts.add(.loopback)
            counts.add(.loopback)
            counts.remove(.loopback)
            #expect(counts.count(of: .loopback) == (1, 1))
            counts.remove(.loopback)
            #expect(counts.count(of: .loopback) == (0, 0))
        }
    }
}
