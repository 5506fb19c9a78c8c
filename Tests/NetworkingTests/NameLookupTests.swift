import Networking
import Testing

@Suite(.timeLimit(.minutes(10))) struct NameLookupTests {
    @Test(arguments: ["127.0.0.1", "::1", "2001:db8::1"])
    func aNumericAddressIsItsOwnAnswer(text: String) throws {
        #expect(try NameLookup.addresses(of: text) == [#require(IPAddress(text))])
    }

    @Test func theHostsFileIsRead() throws {
        let addresses = try NameLookup.addresses(of: "localhost")
        #expect(addresses.contains { $0 == .loopback || $0 == IPAddress("::1") })
        #expect(Set(addresses).count == addresses.count)
    }

    @Test(arguments: ["", "127.0.0.1\0", "a name", "256.256.256.256"])
    func aNameThatCannotExistHasAnErrorWithItsReason(name: String) {
        let error = #expect(throws: NameLookupError.self) { try NameLookup.addresses(of: name) }
        #expect(error?.code != 0)
        #expect(error?.description.isEmpty == false)
    }
}
