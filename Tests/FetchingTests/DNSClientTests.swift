import Glibc
import Networking
import TestPrimitives
import Testing

@testable import Fetching

@Suite struct DNSClientTests {
    private func client(_ responders: Responder..., timeout: Duration = .seconds(300)) -> DNSClient
    {
        DNSClient(
            servers: responders.map { SocketAddress(.loopback, port: $0.port) }, timeout: timeout)
    }

    private func cause(
        _ client: DNSClient, _ name: String = "name.test"
    ) async -> DNSError.Cause? {
        do {
            _ = try await client.texts(at: name, for: nil)
            return nil
        } catch {
            return (error as? DNSError)?.cause
        }
    }

    @Test func theStringsOfATextAreJoinedAndOtherRecordsIgnored() async throws {
        let server = Responder { query in
            let alias = Message.Record(type: Message.alias, data: Message.name("real.test"))
            return [
                Message.answer(
                    to: query,
                    [alias, Message.text("first, ", "joined"), Message.text(""), Message.text("c")])
            ]
        }
        #expect(
            try await client(server).texts(at: "name.test", for: nil) == ["first, joined", "", "c"])
    }

    @Test func mailExchangersAreInOrderOfPreferenceInLowerCaseAndWithoutADot() async throws {
        let server = Responder { query in
            [
                Message.answer(
                    to: query,
                    [
                        Message.mailExchanger(20, "mx2.Mail.test"),
                        Message.mailExchanger(10, "MX1.mail.test"),
                        Message.mailExchanger(300, "."),
                    ])
            ]
        }
        let hosts = try await client(server).mailExchangers(of: "name.test", for: nil)
        #expect(hosts == ["mx1.mail.test", "mx2.mail.test", ""])
    }

    @Test(arguments: [UInt8(0), 3]) func whatIsNotPublishedIsAnEmptyAnswer(code: UInt8) async throws
    {
        let server = Responder { [Message.answer(to: $0, code: code)] }
        #expect(try await client(server).texts(at: "name.test", for: nil).isEmpty)
        #expect(try await client(server).mailExchangers(of: "name.test", for: nil).isEmpty)
    }

    @Test(arguments: [UInt8(1), 2, 5]) func anErrorOfTheServerIsNotAnEmptyAnswer(
        code: UInt8
    ) async {
        let server = Responder { [Message.answer(to: $0, code: code)] }
        #expect(await cause(client(server)) == .responseCode(Int(code)))
    }

    @Test func theNextServerIsAskedAfterAnError() async throws {
        let broken = Responder { [Message.answer(to: $0, code: 2)] }
        let good = Responder { [Message.answer(to: $0, [Message.text("good")])] }
        #expect(try await client(broken, good).texts(at: "name.test", for: nil) == ["good"])
    }

    @Test func aLookUpOfASilentServerEndsAtTheTimeout() async {
        let server = Responder { _ in [] }
        #expect(await cause(client(server, timeout: .milliseconds(80))) == .timedOut)
    }

    @Test func aLostDatagramIsSentAgain() async throws {
        let count = Counter()
        let responder = Responder { query in
            count.next() == 1 ? [] : [Message.answer(to: query, [Message.text("late")])]
        }
        // Half of the timeout passes before the second datagram.
        let client = client(responder, timeout: .seconds(10))
        #expect(try await client.texts(at: "name.test", for: nil) == ["late"])
    }

    @Test func answersToOtherQuestionsAreIgnored() async throws {
        let server = Responder { query in
            var foreign = Message.answer(to: query, [Message.text("foreign number")])
            foreign[0] ^= 1
            let other = Message.answer(
                to: Array(query[..<12]) + Message.name("evil.test") + [0, 16, 0, 1],
                [Message.text("other name")])
            var asking = Message.answer(to: query, [Message.text("not an answer")])
            asking[2] = 0x01
            let right = Message.answer(to: query, [Message.text("right")])
            return [[], [0], foreign, other, asking, Array(right[..<11]), right]
        }
        #expect(try await client(server).texts(at: "name.test", for: nil) == ["right"])
    }

    @Test func anAnswerThatDoesNotFitIsReadOverTCP() async throws {
        let long = String(repeating: "a", count: 200)
        let server = Responder(
            stream: { query in
                let records = (0..<20).map { _ in Message.text(long, long) }
                return Message.framed(Message.answer(to: query, records))
            },
            answer: { [Message.answer(to: $0, truncated: true, [Message.text("part")])] })
        let texts = try await client(server).texts(at: "name.test", for: nil)
        #expect(texts == [String](repeating: long + long, count: 20))
    }

    @Test func aSilentConnectionEndsAtTheTimeout() async {
        let server = Responder(answer: { [Message.answer(to: $0, truncated: true)] })
        #expect(await cause(client(server, timeout: .milliseconds(80))) == .timedOut)
    }

    @Test func aConnectionThatEndsEarlyIsAnError() async {
        let server = Responder(
            stream: { Array(Message.framed(Message.answer(to: $0)).dropLast()) },
            answer: { [Message.answer(to: $0, truncated: true)] })
        #expect(await cause(client(server)) == .malformed)
    }

    @Test func tooManyBytesOrRecordsAreAnError() async {
        let bytes = Responder(
            stream: { _ in [0xff, 0xff] }, answer: { [Message.answer(to: $0, truncated: true)] })
        #expect(await cause(client(bytes)) == .tooLarge)
        let records = Responder(
            stream: { query in
                let many = [Message.Record](repeating: Message.text("a"), count: 257)
                return Message.framed(Message.answer(to: query, many))
            }, answer: { [Message.answer(to: $0, truncated: true)] })
        #expect(await cause(client(records)) == .tooLarge)
    }

    @Test func aPortWithoutAServerIsUnreachable() async {
        let port = Responder { _ in [] }.port
        // The responder is gone already.
        let client = DNSClient(
            servers: [SocketAddress(.loopback, port: port)], timeout: .seconds(5))
        #expect([.unreachable(ECONNREFUSED), .timedOut].contains(await cause(client)))
    }

    @Test func theErrorNamesTheServerAndTheCause() async {
        let server = Responder { [Message.answer(to: $0, code: 2)] }
        let error = await #expect(throws: DNSError.self) {
            try await client(server).texts(at: "name.test", for: nil)
        }
        #expect(error?.server == SocketAddress(.loopback, port: server.port))
        #expect(
            error?.description
                == "127.0.0.1:\(server.port): the nameserver answered with error code 2")
        #expect(DNSError(.busy).description == "too many look-ups are in progress")
        #expect("\(DNSError.Cause.unreachable(ECONNREFUSED))".hasSuffix(": Connection refused"))
    }

    @Test func aFullPoolRejectsAtOnce() async {
        let gate = Gate()
        let server = Responder { query in
            gate.hold()
            return [Message.answer(to: query)]
        }
        let client = DNSClient(
            servers: [SocketAddress(.loopback, port: server.port)],
            timeout: .seconds(300), lanes: 1, depth: 0)
        async let first = cause(client)
        await gate.await()
        #expect(await cause(client) == .busy)
        gate.release()
        #expect(await first == nil)
    }

    @Test(arguments: [
        "", "a..b", String(repeating: "a", count: 64) + ".test",
        String(repeating: "a.", count: 130), "a\0b.test",
    ])
    func aTextThatIsNoNameIsNotAskedFor(name: String) async {
        let server = Responder { _ in [] }
        #expect(await cause(client(server), name) == .invalidName)
        #expect(server.queries == 0)
    }
}
