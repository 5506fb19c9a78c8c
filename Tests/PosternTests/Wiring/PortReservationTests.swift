import Testing

@testable import postern

@Suite struct PortReservationTests {
    @Test(arguments: ["127.0.0.1", "::1", "*"]) func aReservedPortIsNotAssignedAgain(host: String)
        throws
    {
        let first = try #require(PortReservation(host: host))
        let second = try #require(PortReservation(host: host))
        #expect((1...65_535).contains(first.port))
        withExtendedLifetime((first, second)) { #expect(first.port != second.port) }
    }

    @Test func anAddressOfAnotherMachineHasNoPort() {
        #expect(PortReservation(host: "192.0.2.1") == nil)
    }
}
