import Networking
import Testing

@testable import Fetching

/// The registry of special-purpose addresses is tested in NetworkingTests.
@Suite struct FetchRulesTests {
    private func allows(_ text: String, private isPrivateAllowed: Bool) throws -> Bool {
        let address = try #require(IPAddress(canonical: text), "\(text)")
        return FetchRules(allowsPrivateNetworks: isPrivateAllowed).allows(address)
    }

    @Test(arguments: ["1.1.1.1", "172.15.255.255", "2606:4700:4700::1111", "2a00:1450::1"])
    func publicAddressesAreAllowed(text: String) throws {
        #expect(try allows(text, private: false))
        #expect(try allows(text, private: true))
    }

    @Test(arguments: [
        "127.0.0.1", "127.255.255.254", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.100.100.200",
        "::1", "fc00::1", "fd12:3456::1",
    ])
    func privateNetworksAreAllowedOnlyByTheOperator(text: String) throws {
        #expect(try !allows(text, private: false))
        #expect(try allows(text, private: true))
    }

    @Test(arguments: [
        "0.0.0.0", "169.254.169.254", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255",
        "::", "::2", "fe80::1", "fec0::1", "ff02::1", "100::1", "2001:db8::1", "1fff::1", "4000::1",
        "5f00::1", "8000::1",
    ])
    func otherSpecialAddressesAreNeverAllowed(text: String) throws {
        #expect(try !allows(text, private: false))
        #expect(try !allows(text, private: true))
    }

    @Test(arguments: [
        "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "::127.0.0.1", "64:ff9b::808:808",
        "64:ff9b::7f00:1", "64:ff9b:1::808:808", "2002:808:808::1", "2002:7f00:1::",
        "2001:0:808:808::f7f7:f7f7", "2001::1",
    ])
    func formsOfIPv6ThatContainAnIPv4AddressAreNeverAllowed(text: String) throws {
        #expect(try !allows(text, private: false))
        #expect(try !allows(text, private: true))
    }
}
