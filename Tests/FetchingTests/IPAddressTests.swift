// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
import CCurl
import CResolver
import Glibc
import Testing

@testable import Fetching

@Suite struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8",
        "2001:db8:0:1:1:1:1:1", "2001:0:0:1::1", "::ffff:127.0.0.1", "fe80::1",
    ])
    func theCanonicalFormIsRead(text: String) {
        #expect(IPAddress(canonical: text)?.text == text)
    }

    @Test(arguments: [
        "", "1", "2130706433", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01", "0x7f.0.0.1",
        "0x7f000001", "127.0.0.1.", ".127.0.0.1", "127.0.0.256", "127.0.0.1\0", " 127.0.0.1",
        "127.0.0.1/8", "1.2.3.4.5", "+1.2.3.4", "::0", "0:0:0:0:0:0:0:1", "2001:DB8::1",
        "2001:0db8::1", "2001:db8:0::1", "1::3:4:5:6:7:8:0", "::ffff:7f00:1", "::7f00:1",
        "fe80::1%1", "fe80::1%lo", "[::1]", "1:2:3:4:5:6:7:8:9", ":::", "::1::", "12345::",
    ])
    func anyOtherFormIsNot(text: String) {
        #expect(IPAddress(canonical: text) == nil)
    }

    @Test func aSocketsAddressIsReadInNetworkOrder() {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "192.0.2.7", &v4.sin_addr)
        #expect(address(of: &v4)?.text == "192.0.2.7")
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        inet_pton(AF_INET6, "2001:db8::7", &v6.sin6_addr)
        #expect(address(of: &v6)?.text == "2001:db8::7")
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        #expect(address(of: &local) == nil)
    }

    @Test func aMappedAddressIsNotTheAddressInIt() {
        #expect(IPAddress(canonical: "::ffff:1.2.3.4") != IPAddress(canonical: "1.2.3.4"))
        #expect(IPAddress(v6: 0xffff_0102_0304).text == "::ffff:1.2.3.4")
        #expect(IPAddress(v4: 0x0102_0304).text == "1.2.3.4")
    }

    private func address<T>(of socketAddress: inout T) -> IPAddress? {
        withUnsafeBytes(of: &socketAddress) { raw in
            raw.baseAddress.flatMap { IPAddress($0.assumingMemoryBound(to: sockaddr.self)) }
        }
    }
}
