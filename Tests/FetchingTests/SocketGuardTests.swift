// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
import CCurl
import CResolver
import Glibc
import Testing

@testable import Fetching

@Suite struct SocketGuardTests {
    private static let looked = IPAddress(v4: 0x0808_0808)

    private func open(_ address: String, by guardian: SocketGuard) -> Int32 {
        var peer = curl_sockaddr()
        peer.family = AF_INET
        peer.socktype = Int32(SOCK_STREAM.rawValue)
        peer.addrlen = UInt32(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &peer.addr) { raw in
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, address, &v4.sin_addr)
            raw.storeBytes(of: v4, as: sockaddr_in.self)
        }
        return guardian.open(&peer)
    }

    @Test func anAddressThatWasLookedAtGetsASocket() {
        let guardian = SocketGuard(pinned: [Self.looked], rules: AddressRules())
        let descriptor = open("8.8.8.8", by: guardian)
        #expect(descriptor >= 0)
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
        #expect(guardian.refused == nil)
        close(descriptor)
    }

    @Test func anAddressThatNobodyLookedAtGetsNone() {
        let guardian = SocketGuard(pinned: [Self.looked], rules: AddressRules())
        #expect(open("8.8.4.4", by: guardian) == -1)
        #expect(guardian.refused?.text == "8.8.4.4")
    }

    @Test func anAddressThatIsNotGlobalGetsNoneWhoeverLookedAtIt() {
        let loopback = IPAddress(v4: 0x7f00_0001)
        let guardian = SocketGuard(pinned: [loopback], rules: AddressRules())
        #expect(open("127.0.0.1", by: guardian) == -1)
        #expect(guardian.refused == loopback)
        let lax = SocketGuard(pinned: [loopback], rules: AddressRules(allowsPrivateNetworks: true))
        let descriptor = open("127.0.0.1", by: lax)
        #expect(descriptor >= 0)
        close(descriptor)
    }

    @Test func whatIsNoInternetAddressGetsNone() {
        let guardian = SocketGuard(pinned: [Self.looked], rules: AddressRules())
        var peer = curl_sockaddr()
        peer.addr.sa_family = sa_family_t(AF_UNIX)
        #expect(guardian.open(&peer) == -1)
        #expect(guardian.open(nil) == -1)
    }
}
