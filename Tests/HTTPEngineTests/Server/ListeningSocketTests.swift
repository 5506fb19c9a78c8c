import Glibc
import Testing

@testable import HTTPEngine

@Suite struct ListeningSocketTests {
    @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
    func theBoundAddressReadsAsInAURL(host: String, shown: String) throws {
        let socket = try listen(host)
        defer { socket.close() }
        #expect(socket.address.port != 0)
        #expect(socket.address.description == "\(shown):\(socket.address.port)")
    }

    @Test(arguments: ["", "localhost", "127.0.0.1 ", "[::1]", "127.1", "::1%lo", "300.0.0.1"])
    func aTextThatIsNotAnAddressIsAnError(host: String) {
        let error = #expect(throws: SocketError.self) {
            try listen(host)
        }
        #expect(error?.code == EINVAL)
    }

    @Test func anAddressOfAnotherMachineIsAnError() {
        let error = #expect(throws: SocketError.self) {
            try listen("192.0.2.1")
        }
        #expect(error?.code == EADDRNOTAVAIL)
        #expect(error?.description.contains("192.0.2.1") == true)
    }

    @Test func aFailureLeaksNoDescriptor() async {
        // In a process of its own, because a new descriptor has the lowest free number.
        await #expect(processExitsWith: .success) {
            let before = try listen("127.0.0.1")
            before.close()
            // More than the threads of the runtime open meanwhile.
            let failures: Int32 = 64
            for _ in 0..<failures {
                #expect(throws: SocketError.self) {
                    try listen("192.0.2.1")
                }
            }
            let after = try listen("127.0.0.1")
            #expect(after.descriptor < before.descriptor + failures)
        }
    }
}

private func listen(_ host: String) throws -> ListeningSocket {
    let router = Router(groups: []) { error, _ in Response(status: error.status) }
    return try ListeningSocket(
        Listener(address: .tcp(host: host, port: 0), router: router), backlog: 1)
}
