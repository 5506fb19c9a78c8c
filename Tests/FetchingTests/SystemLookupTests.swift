// All three: which module the compiler takes the system's socket types from depends on the order in
// which it loads them.
import CCurl
import CResolver
import Glibc
import Networking
import TestPrimitives
import Testing

@testable import Fetching

/// How the system's resolver is used, with a nameserver of the test's own.
@Suite(.timeLimit(.minutes(10))) struct SystemLookupTests {
    private struct Outcome: Sendable {
        let addresses: [IPAddress]?
        let seconds: Int32
        let tries: Int32
        let isForgotten: Bool
    }

    /// A resolver's settings belong to its thread, so everything happens on one thread.
    private func lookUp(_ name: String, asking server: Responder) async throws -> Outcome {
        let port = server.port
        return try await onOwnThread {
            // Search domains; read once, here.
            setenv("LOCALDOMAIN", "search.test", 1)
            let state = try #require(__res_state())
            let isReady = __res_ninit(state) == 0
            unsetenv("LOCALDOMAIN")
            try #require(isReady)
            state.pointee.nscount = 1
            state.pointee.nsaddr_list.0.sin_family = sa_family_t(AF_INET)
            state.pointee.nsaddr_list.0.sin_port = port.bigEndian
            state.pointee.nsaddr_list.0.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let addresses = try? SystemLookup.addresses(of: name)
            return Outcome(
                addresses: addresses, seconds: state.pointee.retrans,
                tries: state.pointee.retry, isForgotten: state.pointee.options & 1 == 0)
        }
    }

    @Test func aNameIsAskedForAsWrittenWithoutTheSearchDomains() async throws {
        let server = Responder { [Message.answer(to: $0, code: 3)] }
        let outcome = try await lookUp("name.test", asking: server)
        #expect(outcome.addresses == nil)
        // One for IPv4, one for IPv6.
        #expect(server.queries == 2)
    }

    @Test func aLookUpOfASilentNameserverTakesTwoSecondsAtMost() async throws {
        let server = Responder { _ in [] }
        let outcome = try await lookUp("name.test", asking: server)
        #expect(outcome.addresses == nil)
        #expect(server.queries == 4)
        #expect(outcome.seconds == 1 && outcome.tries == 2)
        #expect(outcome.isForgotten)
    }

    @Test func everyAddressOfANameIsFound() async throws {
        let server = Responder { query in
            let isIPv4 = query[query.count - 3] == 1
            let records = [[8, 8, 8, 8], [127, 0, 0, 1]].map {
                Message.Record(type: 1, data: $0)
            }
            return [Message.answer(to: query, isIPv4 ? records : [])]
        }
        let outcome = try await lookUp("name.test", asking: server)
        #expect(Set(outcome.addresses?.map(\.description) ?? []) == ["8.8.8.8", "127.0.0.1"])
    }
}
