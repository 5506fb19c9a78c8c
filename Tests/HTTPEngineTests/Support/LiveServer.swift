import Synchronization
import TestPrimitives

@testable import HTTPEngine

/// A server on a free port, with routes for the tests of the engine.
struct LiveServer: Sendable {
    let server: Server
    let port: UInt16
    /// Handlers that wait.
    let arrivals = Level()
    /// The handler of `/hold` keeps its loop until this is released.
    let hold = Gate()
    /// The handlers of `/gate` wait for it.
    let gate = Latch()
    let cancelled = Latch()
    /// The pieces of the response to `/stream`, which opens `cancelled` when it is cancelled.
    let pieces: AsyncStream<[UInt8]>.Continuation
    let records = Records()
    /// Every error record as it is reported, for a test to wait for.
    let errors: AsyncStream<ErrorRecord>
    /// The same for every access record.
    let ends: AsyncStream<AccessRecord>

    final class Records: Sendable {
        private let state = Mutex<(access: [AccessRecord], errors: [ErrorRecord])>(([], []))

        var access: [AccessRecord] { state.withLock { $0.access } }
        var errors: [ErrorRecord] { state.withLock { $0.errors } }

        func add(_ record: AccessRecord) { state.withLock { $0.access.append(record) } }
        func add(_ record: ErrorRecord) { state.withLock { $0.errors.append(record) } }
    }

    /// The settings that a test may change.
    @dynamicMemberLookup struct Setup {
        var host = "127.0.0.1"
        var port: UInt16 = 0
        var proxies = TrustedProxies()
        var tls: ListenerTLS?
        fileprivate var configuration = ServerConfiguration()

        subscript<Value>(dynamicMember path: WritableKeyPath<ServerConfiguration, Value>) -> Value {
            get { configuration[keyPath: path] }
            set { configuration[keyPath: path] = newValue }
        }
    }

    init(_ adjust: (inout Setup) -> Void = { _ in }) throws {
        var setup = Setup()
        setup.loops = 2
        setup.drainGrace = .zero
        adjust(&setup)
        let renderer: ErrorRenderer = { error, _ in
            .text("error \(error.status.code)\n", status: error.status)
        }
        let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = source
        source.onTermination = { [cancelled] in if case .cancelled = $0 { cancelled.open() } }
        let routes = RouteGroup(
            prefixes: ["/"], errors: renderer,
            routes: LiveServer.routes(arrivals, gate, hold, cancelled) + [
                Route(.get, "/stream") { _ in
                    var response = Response.text("first\n")
                    response.stream = pieces
                    return response
                }
            ])
        let records = records
        let (stream, continuation) = AsyncStream.makeStream(of: ErrorRecord.self)
        self.errors = stream
        let (ends, access) = AsyncStream.makeStream(of: AccessRecord.self)
        self.ends = ends
        server = Server(
            configuration: setup.configuration,
            listeners: [
                Listener(
                    address: .tcp(host: setup.host, port: setup.port),
                    router: Router(groups: [routes], fallback: renderer), proxies: setup.proxies,
                    tls: setup.tls)
            ],
            hooks: ServerHooks(
                access: {
                    records.add($0)
                    access.yield($0)
                },
                error: {
                    records.add($0)
                    continuation.yield($0)
                }))
        port = try server.start()[0].port
    }

    private static func routes(
        _ arrivals: Level, _ gate: Latch, _ hold: Gate, _ cancelled: Latch
    ) -> [Route] {
        [
            Route(.get, "/hold") { _ in
                arrivals.raise()
                hold.hold()
                return .text("held\n")
            },
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
            Route(.get, "/answered-fault") { _ in
                throw AnsweredFault(
                    cause: SocketError(call: "nothing", code: 0),
                    response: .text("later\n", status: .serviceUnavailable))
            },
            Route(.get, "/until-cancelled") { _ in
                arrivals.raise()
                do {
                    try await Task.sleep(for: .seconds(600))
                } catch {
                    cancelled.open()
                    throw error
                }
                return .text("never cancelled\n")
            },
            Route(.get, "/poll", isLongPoll: true) { _ in
                arrivals.raise()
                try? await Task.sleep(for: .seconds(600))
                return .text("nothing\n")
            },
            Route(.get, "/poll-that-throws", isLongPoll: true) { _ in
                arrivals.raise()
                try await Task.sleep(for: .seconds(600))
                return .text("never cancelled\n")
            },
        ]
    }

    func client(receiveBuffer: Int32? = nil) -> RawClient {
        RawClient(port: port, receiveBuffer: receiveBuffer)
    }

    /// Sends a text on a new connection and returns everything up to the end of the stream.
    func exchange(_ text: String) -> String? {
        let client = client()
        client.send(text)
        return client.receiveToEnd()
    }
}
