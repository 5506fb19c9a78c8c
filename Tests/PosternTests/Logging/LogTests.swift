import AuthCore
import Glibc
import HTTPEngine
import Logging
import Networking
import StrictJSON
import TestPrimitives
import Testing

@testable import Configuration
@testable import postern

@Suite struct LogTests {
    private struct Trouble: Error, CustomStringConvertible {
        let description = "disk\nfull"
    }

    @Test func aRequestIsOneLineWithItsRouteAndNotItsPath() async throws {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        log.access(
            AccessRecord(
                method: .post, route: "/api/v1/session", status: 201, bytes: 512,
                duration: .microseconds(1500), peer: SocketAddress(.loopback, port: 1),
                id: RequestID(prefix: 1, number: 2)))
        await log.writer.drain()
        let object = try #require(try JSONValue.parse(Array(pipe.drained().utf8)).object)
        #expect(object["message"] == .string("request"))
        #expect(object["http.request.method"] == .string("POST"))
        #expect(object["http.route"] == .string("/api/v1/session"))
        #expect(object["http.response.status_code"] == .integer(201))
        #expect(object["http.response.size"] == .integer(512))
        #expect(object["microseconds"] == .integer(1500))
        #expect(object["client.address"] == .string("127.0.0.1"))
        #expect(object["id"] == .string("00000001-2"))
        #expect(object["trace_id"] == nil && object["span_id"] == nil)
    }

    @Test func aRequestOfATraceIsLoggedWithIt() async throws {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        let sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        log.access(
            AccessRecord(
                method: .get, route: "/", status: 200, bytes: 1, duration: .zero,
                peer: SocketAddress(.loopback, port: 1), id: RequestID(prefix: 1, number: 2),
                trace: TraceContext(Array(sent.utf8)[...])))
        await log.writer.drain()
        let object = try #require(try JSONValue.parse(Array(pipe.drained().utf8)).object)
        #expect(object["trace_id"] == .string("4bf92f3577b34da6a3ce929d0e0e4736"))
        #expect(object["span_id"] == .string("00f067aa0ba902b7"))
    }

    @Test func aLongMethodIsShortened() async throws {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        log.access(
            AccessRecord(
                method: Method(String(repeating: "M", count: 8_000)), route: "-", status: 405,
                bytes: 1, duration: .zero, peer: SocketAddress(.loopback, port: 1),
                id: RequestID(prefix: 1, number: 2)))
        await log.writer.drain()
        let object = try #require(try JSONValue.parse(Array(pipe.drained().utf8)).object)
        #expect(object["http.request.method"] == .string(String(repeating: "M", count: 32)))
    }

    private func record(_ status: Int, number: UInt64) -> AccessRecord {
        AccessRecord(
            method: .get, route: "/healthz", status: status, bytes: 1, duration: .zero,
            peer: SocketAddress(.loopback, port: 1), id: RequestID(prefix: 1, number: number))
    }

    /// The statuses of the requests that have a line.
    private func logged(
        _ sampling: AccessSampling, _ statuses: [Int], times: Int
    ) async throws -> [Int] {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        log.sampleAccess(sampling)
        var number: UInt64 = 0
        for status in statuses {
            for _ in 0..<times {
                number += 1
                log.access(record(status, number: number))
            }
        }
        await log.writer.drain()
        return try pipe.drained().split(separator: "\n").map { line in
            let object = try JSONValue.parse(Array(line.utf8)).object
            return Int(try #require(object?["http.response.status_code"]?.integer))
        }
    }

    @Test func errorsAreLoggedWhateverTheSample() async throws {
        let statuses = [200, 201, 302, 400, 404, 429, 499, 500, 503]
        #expect(try await logged(.all, statuses, times: 1) == statuses)
        #expect(try await logged(.errors, statuses, times: 1) == [400, 404, 429, 499, 500, 503])
        let sampled = try await logged(.share(0.000_001), [200, 404], times: 10)
        #expect(sampled == Array(repeating: 404, count: 10))
    }

    /// Requests of one loop have every second or every eighth number.
    @Test(arguments: [1, 2, 3, 8])
    func aSampleHasItsPartOfTheRequestsInARow(stride: UInt64) {
        for share in [0.01, 0.1, 0.5, 0.99] {
            let threshold = AccessSampling.share(share).threshold
            let count = (1...10_000).count { number in
                RequestID(prefix: 1, number: UInt64(number) * stride).sample <= threshold
            }
            #expect(abs(Double(count) - 10_000 * share) < 25, "\(share) of \(stride): \(count)")
        }
        #expect(AccessSampling.share(1.0.nextDown).threshold > .max / 2)
    }

    @Test func aFailedRequestHasItsStatusAsTheTypeOfItsErrorAndTextHasShortNames() async throws {
        let json = Pipe()
        var log = Log(descriptor: json.writer, format: .json)
        log.access(record(503, number: 1))
        log.access(record(404, number: 2))
        log.logger.error("broken", error: Trouble())
        await log.writer.drain()
        let types = try json.drained().split(separator: "\n").map {
            try JSONValue.parse(Array($0.utf8)).object?["error.type"]?.string
        }
        #expect(types == ["503", nil, "Trouble"])
        let text = Pipe()
        log = Log(descriptor: text.writer, format: .text)
        log.access(record(503, number: 1))
        await log.writer.drain()
        #expect(
            text.drained().hasSuffix(
                "request method=GET route=/healthz status=503 bytes=1 microseconds=0"
                    + " client=127.0.0.1 id=00000001-1\n"))
    }

    @Test func anAuditEventIsOneLineWithTheIDOfItsRequest() async throws {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        log.event(
            AuditEvent(
                .loginFailed, time: Instant(seconds: 0), actor: .anonymous,
                subject: "a@b.test\n\"", client: "192.0.2.1", requestID: "00000001-2"))
        log.event(
            AuditEvent(.userCreated, time: Instant(seconds: 0), actor: .operator, subject: "x"))
        await log.writer.drain()
        let lines = pipe.drained().split(separator: "\n")
        #expect(lines.count == 2)
        let object = try #require(try JSONValue.parse(Array(lines[0].utf8)).object)
        #expect(object["message"] == .string("credential event"))
        #expect(object["kind"] == .string("login_failed"))
        #expect(object["actor"] == .string("anonymous"))
        #expect(object["subject"] == .string("a@b.test\n\""))
        #expect(object["client.address"] == .string("192.0.2.1"))
        #expect(object["id"] == .string("00000001-2"))
        // Commands of the operator have no client address.
        #expect(!lines[1].contains("client"))
    }

    @Test func aSecurityEventIsOneLineWithItsClientItsRequestAndItsNumber() async throws {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        let caller = Caller(
            address: .loopback, requestID: "00000001-2", now: Instant(seconds: 0), arrival: .now)
        log.security(SecurityEvent(.tokenRejected, subject: "/api/token", by: caller), count: 3)
        await log.writer.drain()
        let object = try #require(try JSONValue.parse(Array(pipe.drained().utf8)).object)
        #expect(object["message"] == .string("security event"))
        #expect(object["kind"] == .string("token_rejected"))
        #expect(object["subject"] == .string("/api/token"))
        #expect(object["client.address"] == .string("127.0.0.1"))
        #expect(object["id"] == .string("00000001-2"))
        #expect(object["count"] == .integer(3))
    }

    @Test func eventsAreKeptWhileNobodyReadsTheLog() async throws {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .json)
        let full = [UInt8](repeating: 0x2e, count: 65_536)
        #expect(full.withUnsafeBytes { write(pipe.writer, $0.baseAddress, $0.count) } == 65_536)
        let caller = Caller(
            address: .loopback, requestID: "00000001-2", now: Instant(seconds: 0), arrival: .now)
        log.security(SecurityEvent(.tokenRejected, subject: "/", by: caller), count: 1)
        log.event(AuditEvent(.loginFailed, by: caller, actor: .anonymous, subject: "x"))
        log.logger.notice("lost")
        await log.writer.drain()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        #expect(read(pipe.reader, &chunk, chunk.count) == 65_536)
        await log.writer.drain()
        let messages = try pipe.drained().split(separator: "\n").map {
            try JSONValue.parse(Array($0.utf8)).object?["message"]
        }
        #expect(
            messages.prefix(2) == [.string("security event"), .string("credential event")])
        #expect(!messages.contains(.string("lost")))
    }

    @Test func messagesCarryTheirMetadataAndErrors() async {
        let pipe = Pipe()
        let log = Log(descriptor: pipe.writer, format: .text)
        var logger = log.logger
        logger[metadataKey: "b"] = "2"
        logger.error("broken", error: Trouble(), metadata: ["a": "1"])
        logger.debug("not shown")
        await log.writer.drain()
        let text = pipe.drained()
        #expect(text.hasSuffix("Z error    broken a=1 b=2 error=disk\\u000afull\n"))
        #expect(!text.contains("not shown"))
    }
}

@Suite struct LogWriterTests {
    @Test func linesAreWrittenInOrder() async {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.writer) { _ in [] }
        for number in 0..<100 { writer.append(Array("\(number)\n".utf8)) }
        await writer.drain()
        #expect(pipe.drained() == (0..<100).map { "\($0)\n" }.joined())
    }

    @Test func beyondItsCapacityLinesAreDroppedAndCounted() async {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.writer, capacity: 10) { Array("lost \($0)\n".utf8) }
        for _ in 0..<5 { writer.append(Array("12345\n".utf8)) }
        await writer.drain()
        writer.append(Array("after\n".utf8))
        await writer.drain()
        #expect(pipe.drained() == "12345\nlost 4\nafter\n")
    }

    @Test func eventsAreKeptWhenOtherLinesHaveToBeDropped() async {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.writer, capacity: 20) { Array("lost \($0)\n".utf8) }
        for _ in 0..<100 { writer.append(Array("request\n".utf8)) }
        for number in 0..<3 { writer.append(Array("event\(number)\n".utf8), isEvent: true) }
        await writer.drain()
        #expect(pipe.drained() == "event0\nevent1\nrequest\nrequest\nlost 99\n")
    }

    /// A reader that is stuck for a while: requests are lost, events are written afterwards.
    @Test func eventsWaitForAReaderThatDoesNotRead() async throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.writer) { Array("lost \($0)\n".utf8) }
        let full = [UInt8](repeating: 0x2e, count: 65_536)
        #expect(full.withUnsafeBytes { write(pipe.writer, $0.baseAddress, $0.count) } == 65_536)
        writer.append(Array("event\n".utf8), isEvent: true)
        writer.append(Array("request\n".utf8))
        await writer.drain()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        #expect(read(pipe.reader, &chunk, chunk.count) == 65_536)
        // Blocks until the writer tries again by itself.
        #expect(read(pipe.reader, &chunk, 6) == 6)
        #expect(String(decoding: chunk.prefix(6), as: UTF8.self) == "event\n")
        await writer.drain()
        #expect(pipe.drained() == "lost 1\n")
    }

    @Test func aClosedReaderLosesOnlyTheLines() async {
        let pipe = Pipe()
        signal(SIGPIPE, SIG_IGN)
        let writer = LogWriter(descriptor: pipe.writer) { _ in [] }
        pipe.abandon()
        writer.append(Array("x\n".utf8))
        await writer.drain()
        writer.append(Array("y\n".utf8))
        await writer.drain()
        close(pipe.writer)
    }
}
