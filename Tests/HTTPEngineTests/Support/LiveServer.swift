import Synchronization
import TestPrimitives

@testable import HTTPEngine

/// A server of its own on a free port, with routes that show what the engine does.
struct LiveServer: Sendable {
    let server: Server
    let port: UInt16
    /// Handlers that have begun to wait.
    let arrivals = Level()
    /// What the handlers of `/gate` wait at.
    let gate = Latch()
    let cancelled = Latch()
    let records = Records()
    /// Every fault as it is reported, for a test to wait for.
    let faults: AsyncStream<FaultRecord>
    /// The same for every request that is done with.
    let ends: AsyncStream<AccessRecord>

    final class Records: Sendable {
        private let state = Mutex<(access: [AccessRecord], faults: [FaultRecord])>(([], []))

        var access: [AccessRecord] { state.withLock { $0.access } }
        var faults: [FaultRecord] { state.withLock { $0.faults } }

        func add(_ record: AccessRecord) { state.withLock { $0.access.append(record) } }
        func add(_ record: FaultRecord) { state.withLock { $0.faults.append(record) } }
    }

    init(_ adjust: (inout ServerConfiguration) -> Void = { _ in }) throws {
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.loops = 2
        adjust(&configuration)
        let faults: FaultRenderer = { fault, _ in
            .text("fault \(fault.status.code)\n", status: fault.status)
        }
        let routes = RouteGroup(
            prefixes: ["/"], faults: faults, routes: LiveServer.routes(arrivals, gate, cancelled))
        let records = records
        let (stream, continuation) = AsyncStream.makeStream(of: FaultRecord.self)
        self.faults = stream
        let (ends, access) = AsyncStream.makeStream(of: AccessRecord.self)
        self.ends = ends
        server = Server(
            configuration: configuration, router: Router(groups: [routes], fallback: faults),
            hooks: ServerHooks(
                access: {
                    records.add($0)
                    access.yield($0)
                },
                fault: {
                    records.add($0)
                    continuation.yield($0)
                }))
        port = try server.start()[0].port
    }

    private static func routes(_ arrivals: Level, _ gate: Latch, _ cancelled: Latch) -> [Route] {
        [
            Route(.get, "/now") { .text("now \($0.query.first?.value ?? "")\n") },
            Route(.get, "/gate") { _ in
                arrivals.raise()
                await gate.wait()
                return .text("gate\n")
            },
            Route(.get, "/large") { _ in
                Response(status: .ok, body: [UInt8](repeating: 0x78, count: 100_000))
            },
            Route(.post, "/echo", bodyLimit: 10) { Response(status: .ok, body: $0.body) },
            Route(.get, "/split") { _ in .text("x", headers: [("X", "a\r\nEvil: b")]) },
            Route(.get, "/throw") { _ in throw SocketError(call: "nothing", code: 0) },
            Route(.get, "/until-cancelled") { _ in
                arrivals.raise()
                do {
                    try await Task.sleep(for: .seconds(60))
                } catch {
                    cancelled.open()
                    throw error
                }
                return .text("never cancelled\n")
            },
        ]
    }

    func client(receiveBuffer: Int32? = nil) -> RawClient {
        RawClient(port: port, receiveBuffer: receiveBuffer)
    }

    /// Says something on a connection of its own and gives all that is answered until it closes.
    func exchange(_ text: String) -> String? {
        let client = client()
        client.say(text)
        return client.hearToEnd()
    }
}
