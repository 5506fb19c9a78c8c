import Glibc
import Networking
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("192.0.2.1:80", "192.0.2.1:80"), ("192.0.2.1:65535", "192.0.2.1:65535"),
        ("[2001:DB8::1]:80", "[2001:db8::1]:80"), ("[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.1]:1"),
    ])
    func anAddressWithAPortIsRead(text: String, canonical: String) {
        #expect(SocketAddress(text)?.description == canonical)
        #expect(SocketAddress(text, defaultPort: 53)?.description == canonical)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1:53"), ("[2001:db8::1]", "[2001:db8::1]:53"),
        ("2001:db8::1", "[2001:db8::1]:53"), ("::", "[::]:53"),
    ])
    func anAddressWithoutAPortIsReadWhereThereIsADefault(text: String, canonical: String) {
        #expect(SocketAddress(text) == nil)
        #expect(SocketAddress(text, defaultPort: 53)?.description == canonical)
    }

    @Test(arguments: [
        "", ":", "[", "]", "[]", "[]:1", "dns.test", "dns.test:53", "192.0.2.1:", "192.0.2.1:0",
        "192.0.2.1:65536", "192.0.2.1:+53", "192.0.2.1:-1", "192.0.2.1: 53", "192.0.2.1:053535",
        "192.0.2.1:53 ", "192.0.2.1:5٣", "192.0.2.256:53", "192.0.2.1 ", "[192.0.2.1]:53", "[::1",
        "[::1]53", "::1]:53", "[::1]]:53", "[[::1]]:53", "[::1]:", "[::1]:65536", "[::1] :1",
        "1.2.3.4:1:", ":53", "[fe80::1%eth0]:53", "fe80::1%eth0", "192.0.2.1\0", "192.0.2.1:53\0",
    ])
    func anythingElseIsNot(text: String) {
        #expect(SocketAddress(text) == nil)
        #expect(SocketAddress(text, defaultPort: 53) == nil)
    }

    @Test func anIPv4AddressOfTheKernelIsReadInNetworkOrder() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0xc000_0201).bigEndian
        address.sin_port = UInt16(4_711).bigEndian
        #expect(read(address)?.description == "192.0.2.1:4711")
    }

    @Test(arguments: ["[2001:db8::1]:80", "[::ffff:192.0.2.1]:80", "[::]:1"])
    func anIPv6AddressOfTheKernelIsReadInNetworkOrder(text: String) throws {
        let expected = try #require(SocketAddress(text))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = expected.port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) {
            $0.copyBytes(from: expected.address.bytes)
        }
        #expect(read(address) == expected)
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
        }
        #expect(read(storage) == expected)
    }

    @Test func otherFamiliesAndShortAddressesAreNotRead() {
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        #expect(read(local) == nil)
        #expect(read(sockaddr_storage()) == nil)
        for family in [AF_INET, AF_INET6] {
            let size = family == AF_INET ? 16 : 28
            for count in 0..<size {
                var bytes = [UInt8](repeating: 0, count: count)
                if count > 0 { bytes[0] = UInt8(family) }
                #expect(bytes.withUnsafeBytes(SocketAddress.init(sockaddr:)) == nil)
            }
        }
        #expect(SocketAddress(sockaddr: UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func aSocketIsBoundAndConnectedAndItsAddressIsReadBack(host: String) throws {
        let address = SocketAddress(try #require(IPAddress(host)), port: 0)
        let listener = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        try #require(address.bind(listener) == 0 && listen(listener, 1) == 0)
        let bound = try #require(SocketAddress(boundTo: listener))
        #expect(bound.address == address.address && bound.port != 0)
        let client = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        #expect(bound.connect(client) == 0)
        #expect(SocketAddress(boundTo: client)?.address == address.address)
    }

    @Test func theCauseOfAFailureIsInErrno() {
        let foreign = SocketAddress(IPAddress(v4: 0xc000_0201), port: 1)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(foreign.bind(descriptor) == -1 && errno == EADDRNOTAVAIL)
        #expect(foreign.connect(-1) == -1 && errno == EBADF)
        #expect(SocketAddress(boundTo: -1) == nil)
    }

    private func read(_ address: some Any) -> SocketAddress? {
        withUnsafeBytes(of: address, SocketAddress.init(sockaddr:))
    }
}
