// All three: which module the compiler takes the system's socket types from depends on the order in
// which it loads them.
import CCurl
import CResolver
import Glibc
import Networking
import Testing

@testable import Fetching

@Suite struct SocketGuardTests {
    private static let looked = IPAddress(v4: 0x0808_0808)

    private func open(_ address: IPAddress, by guardian: SocketGuard) -> Int32 {
        var peer = curl_sockaddr()
        peer.family = AF_INET
        peer.socktype = Int32(SOCK_STREAM.rawValue)
        peer.addrlen = UInt32(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &peer.addr) { raw in
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_addr.s_addr = UInt32(address.bytes.reduce(0) { $0 << 8 | UInt32($1) }).bigEndian
            raw.storeBytes(of: v4, as: sockaddr_in.self)
        }
        return guardian.open(&peer)
    }

    @Test func anAddressThatWasLookedUpGetsASocket() {
        let guardian = SocketGuard(pinned: Self.looked, rules: FetchRules())
        let descriptor = open(Self.looked, by: guardian)
        #expect(descriptor >= 0)
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
        #expect(guardian.forbidden == nil)
        close(descriptor)
    }

    @Test func anAddressThatWasNotLookedUpGetsNone() {
        let guardian = SocketGuard(pinned: Self.looked, rules: FetchRules())
        #expect(open(IPAddress(v4: 0x0808_0404), by: guardian) == -1)
        #expect(guardian.forbidden?.description == "8.8.4.4")
    }

    @Test func aForbiddenAddressGetsNoneEvenIfItWasLookedUp() {
        let loopback = IPAddress.loopback
        let guardian = SocketGuard(pinned: loopback, rules: FetchRules())
        #expect(open(loopback, by: guardian) == -1)
        #expect(guardian.forbidden == loopback)
        let lax = SocketGuard(pinned: loopback, rules: FetchRules(allowsPrivateNetworks: true))
        let descriptor = open(loopback, by: lax)
        #expect(descriptor >= 0)
        close(descriptor)
    }

    @Test func anAddressThatIsNotOfIPGetsNone() {
        let guardian = SocketGuard(pinned: Self.looked, rules: FetchRules())
        var peer = curl_sockaddr()
        peer.addr.sa_family = sa_family_t(AF_UNIX)
        #expect(guardian.open(&peer) == -1)
        #expect(guardian.open(nil) == -1)
    }
}
