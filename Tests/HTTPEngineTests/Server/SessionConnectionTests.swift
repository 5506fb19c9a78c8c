import Glibc
import TestPrimitives
import Testing

@testable import HTTPEngine

/// Echoes lines that end with a semicolon, and asks about those that begin with a question mark.
private struct LineSession: ByteSession {
    let time: Duration
    private var input: [UInt8] = []
    private var output: [UInt8] = Array("hi;".utf8)
    private var isAsking = false
    private var question: [UInt8]?
    private var last: SessionEnd?
    private var isClosed = false
    private var lines = 0

    init(time: Duration) {
        self.time = time
    }

    var wantsInput: Bool { !isClosed && !isAsking && last == nil }
    var timer: SessionTimer {
        SessionTimer(number: lines, limit: isAsking ? nil : time)
    }
    var heldBytes: Int { input.count }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) { input += bytes }

    mutating func next() -> SessionAction<[UInt8]>? {
        readLines()
        if !output.isEmpty {
            defer { output = [] }
            return .send(output)
        }
        if let question {
            self.question = nil
            return .ask(question)
        }
        guard let last, !isAsking, !isClosed else { return nil }
        isClosed = true
        if case .input = last { return .close(lingers: false) }
        output = []
        return .close(lingers: true)
    }

    private mutating func readLines() {
        while !isAsking, let end = input.firstIndex(of: UInt8(ascii: ";")) {
            let line = Array(input[...end])
            input.removeFirst(end + 1)
            lines += 1
            if line.first == UInt8(ascii: "?") {
                question = line
                isAsking = true
            } else {
                output += line
            }
        }
    }

    mutating func answer(_ answer: [UInt8]) {
        isAsking = false
        lines += 1
        output += answer
        if last != nil { output += Array("bye;".utf8) }
    }

    mutating func answerFailed() { answer(Array("failed;".utf8)) }

    mutating func end(_ reason: SessionEnd) {
        guard last == nil else { return }
        last = reason
        if case .input = reason { return }
        input = []
        if !isAsking { output += Array("\(reason);".utf8) }
    }

    mutating func releaseBuffers() {}
}

private struct LineServer {
    let server: Server
    let port: UInt16
    let arrivals = Level()
    let gate = Latch()
    let errors = Record<String>()

    init(
        _ limits: SessionService.Limits = .init(connections: 10), time: Duration = .seconds(600),
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ServerConfiguration()
        configuration.loops = 1
        adjust(&configuration)
        let (arrivals, gate, errors) = (arrivals, gate, errors)
        let service = SessionService(
            limits: limits, session: { _ in LineSession(time: time) }
        ) { question in
            switch String(decoding: question, as: UTF8.self) {
            case "?gate;":
                arrivals.raise()
                await gate.wait()
            case "?fail;": throw SocketError(call: "nothing", code: 0)
            case "?large;": return [UInt8](repeating: UInt8(ascii: "x"), count: 30_000_000)
            default: break
            }
            return question
        }
        server = Server(
            configuration: configuration,
            listeners: [
                Listener(address: .tcp(host: "127.0.0.1", port: 0), service: .session(service))
            ], hooks: ServerHooks(error: { errors.add("\($0.error)") }))
        port = try server.start()[0].port
    }
}

extension Live {
    /// The connection of another protocol than HTTP.
    @Suite struct Sessions {
        @Test func actionsAreDoneInTheirOrder() async throws {
            let live = try LineServer()
            let client = RawClient(port: live.port)
            client.send("a;b")
            client.send(";?c;d;?fail;e;f")
            client.endInput()
            #expect(client.receiveToEnd() == "hi;a;b;?c;d;failed;e;")
            await live.server.drain()
            #expect(live.errors.entries == ["nothing failed: Success"])
        }

        @Test func bytesDoNotExtendTheTimeAndTheLastReplyIsSent() async throws {
            let live = try LineServer(time: .milliseconds(50)) {
                $0.lingerDeadline = .milliseconds(50)
            }
            let client = RawClient(port: live.port)
            let descriptor = dup(client.descriptor)
            // The line never ends. Sending fails when the server has closed the connection.
            try await onOwnThread {
                let sender = RawClient(descriptor: descriptor)
                while sender.send("x") {}
            }
            // Everything that it was sent, and perhaps a reset after it.
            #expect(client.receive(through: "time;") == "hi;time;")
            await live.server.drain()
        }

        @Test func aConnectionEndsAtItsTimeWhateverItDoes() async throws {
            var limits = SessionService.Limits(connections: 10)
            limits.time = .milliseconds(100)
            let live = try LineServer(limits)
            let client = RawClient(port: live.port)
            var text = client.receive(through: "hi;")
            while !text.hasSuffix("time;") {
                guard client.send("a;"), let bytes = client.receive(), !bytes.isEmpty else { break }
                text = String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.hasSuffix("time;"))
            client.close()
            await live.server.drain()
        }

        @Test func aQuestionThatIsBeingAnsweredHasNoTimeLimit() async throws {
            let live = try LineServer(time: .milliseconds(50))
            let asking = RawClient(port: live.port)
            asking.send("?gate;")
            await live.arrivals.reaches()
            // The time of a connection that began later is over.
            #expect(RawClient(port: live.port).receive(through: "time;") == "hi;time;")
            live.gate.open()
            #expect(asking.receive(through: "?gate;") == "hi;?gate;")
            await live.server.drain()
        }

        @Test func aClientThatDoesNotReadIsDisconnectedAndDoesNotDelayOthers() async throws {
            let live = try LineServer { $0.writeDeadline = .milliseconds(50) }
            let silent = RawClient(port: live.port, receiveBuffer: 4_096)
            silent.send("?large;")
            let other = RawClient(port: live.port)
            other.send("a;")
            #expect(other.receive(through: "a;") == "hi;a;")
            other.close()
            // Its bytes up to then, and a reset or the end.
            while let bytes = silent.receive(), !bytes.isEmpty {
                await live.server.awaitTurn()
            }
            await live.server.drain()
        }

        @Test func sessionsTogetherHoldALimitedNumberOfBytes() async throws {
            var limits = SessionService.Limits(connections: 10)
            limits.heldBytes = 10_000
            let live = try LineServer(limits)
            let client = RawClient(port: live.port)
            client.send([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
            #expect(client.receive(through: "memory;") == "hi;memory;")
            client.close()
            #expect(live.server.statistics.rejections == [.bufferLimit: 1])
            await live.server.drain()
        }

        @Test func connectionsBeyondALimitAreToldSo() async throws {
            var limits = SessionService.Limits(connections: 10)
            limits.connectionsPerClient = 1
            limits.rejection = Array("too many;".utf8)
            let live = try LineServer(limits)
            let first = RawClient(port: live.port)
            #expect(first.receive(through: ";") == "hi;")
            #expect(RawClient(port: live.port).receiveToEnd() == "too many;")
            first.endInput()
            #expect(first.receiveToEnd() == "")
            let next = RawClient(port: live.port)
            #expect(next.receive(through: ";") == "hi;")
            next.close()
            await live.server.drain()
        }

        @Test func stoppingEndsIdleSessionsAndAnswersQuestions() async throws {
            let live = try LineServer {
                $0.lingerDeadline = .milliseconds(50)
            }
            let asking = RawClient(port: live.port)
            asking.send("?gate;ignored;")
            await live.arrivals.reaches()
            let idle = RawClient(port: live.port)
            #expect(idle.receive(through: ";") == "hi;")
            let server = live.server
            async let stopped = server.drain()
            #expect(idle.receive(through: "shutdown;") == "shutdown;")
            live.gate.open()
            #expect(asking.receive(through: "bye;") == "hi;?gate;bye;")
            _ = await stopped
        }

        @Test func manyIdleSessionsStayOpen() async throws {
            var limits = SessionService.Limits(connections: 300)
            limits.rejection = Array("full;".utf8)
            let live = try LineServer(limits)
            // All of them are open at once.
            var clients = (0..<300).map { _ in RawClient(port: live.port) }
            for client in clients { client.send("?go;") }
            for client in clients { #expect(client.receive(through: "go;") == "hi;?go;") }
            clients = []
            await live.server.drain()
        }
    }
}
