import Glibc
import HTTPEngine
import TestPrimitives
import Testing

@testable import postern

/// The socket of a service manager: it has the messages of the process, one after the other.
private final class ManagerSocket {
    let scratch = Scratch()
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)

    var path: String { "\(scratch.path)/notify" }

    init() {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        precondition(result == 0)
    }

    /// nil when there is none now.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    func manager(_ variables: [String: String] = [:]) -> ServiceManager {
        ServiceManager(
            environment: variables.merging(["NOTIFY_SOCKET": path]) { $1 }, process: 42)
    }

    deinit { close(descriptor) }
}

@Suite struct ServiceManagerTests {
    @Test func itIsToldOfStartReloadAndStop() throws {
        let socket = ManagerSocket()
        let manager = socket.manager()
        manager.ready("Serving http://a.test")
        #expect(socket.next() == "READY=1\nSTATUS=Serving http://a.test")
        manager.reloading()
        let reload = try #require(socket.next()).split(separator: "\n")
        #expect(reload.first == "RELOADING=1")
        let time = try #require(reload.last?.split(separator: "=").last.flatMap { Int64($0) })
        #expect(reload.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect(time > 0)
        manager.stopping("Stopping")
        #expect(socket.next() == "STOPPING=1\nSTATUS=Stopping")
        // A reload that ends after that changes nothing.
        manager.ready("Serving")
        #expect(socket.next() == nil)
    }

    @Test func withoutASocketNobodyIsTold() {
        for name in ["", "relative", "@", String(repeating: "/a", count: 100)] {
            let manager = ServiceManager(environment: ["NOTIFY_SOCKET": name], process: 42)
            manager.ready("")
        }
        #expect(ServiceManager(environment: ["WATCHDOG_USEC": "1000"], process: 42).watchdog == nil)
    }

    @Test(arguments: [
        (["WATCHDOG_USEC": "3000000"], Duration.seconds(3)),
        (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"], .seconds(3)),
        (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "43"], nil), (["WATCHDOG_USEC": "0"], nil),
        (["WATCHDOG_USEC": "-1"], nil), (["WATCHDOG_USEC": "x"], nil),
        (["WATCHDOG_USEC": "99999999999999999999"], nil), ([:], nil),
    ])
    func theWatchdogIsTheOneOfThisProcess(variables: [String: String], limit: Duration?) {
        #expect(ManagerSocket().manager(variables).watchdog == limit)
    }

    @Test func aDatabaseThatNeverAnswersIsNoSignOfLife() async throws {
        struct Unreachable: Error {}
        let socket = ManagerSocket()
        let (asked, answers) = (Level(), Latch())
        let router = Router(groups: []) { error, _ in Response(status: error.status) }
        let server = Server(
            configuration: ServerConfiguration(),
            listeners: [Listener(address: .tcp(host: "127.0.0.1", port: 0), router: router)],
            hooks: ServerHooks())
        _ = try server.start()
        let watchdog = Watchdog(
            manager: socket.manager(["WATCHDOG_USEC": "1000"]), server: server,
            pingDatabase: {
                asked.raise()
                await answers.wait()
                throw Unreachable()
            })
        let running = Task { await watchdog.run() }
        await asked.reaches(1)
        #expect(socket.next() == nil)
        answers.open()
        // An error is one, and it is asked again and again.
        await asked.reaches(3)
        #expect(socket.next() == "WATCHDOG=1" && socket.next() == "WATCHDOG=1")
        running.cancel()
        await running.value
        await server.drain()
    }
}
