import PosternTesting
import Testing

@Suite struct MailTests {
    @Test func whatIsDeliveredIsRead() async throws {
        try await PosternServer.run { server in
            let box = try await server.makeAccount("ada@mail.test")
            try await server.deliver(
                to: box.address, "out@other.test", from: "app@shop.test", subject: "Code",
                text: "123456", html: "<a href='https://shop.test'>go</a>",
                attachments: [NewAttachment(filename: "a.bin", type: "image/png", content: [1, 2])])
            let message = try #require(try await server.messages().first)
            #expect(message.recipients == [box.address, "out@other.test"])
            #expect(message.ids.count == 2 && message.ids[0] != nil && message.ids[1] == nil)
            #expect(message.mailFrom == "app@shop.test" && message.from == "app@shop.test")
            #expect(message.subject == "Code" && message.text?.hasPrefix("123456") == true)
            #expect(message.html != nil && message.attachments.first?.filename == "a.bin")
            #expect(message.links == ["https://shop.test"] && message.codes == ["123456"])
            #expect(message.headers.contains { $0.name == "Subject" && $0.value == "Code" })
            let source = String(decoding: try server.source(of: message), as: UTF8.self)
            #expect(source.contains("\r\nSubject: Code\r\n"))
            let listed = try await server.get(
                "/api/accounts/\(box.id)/messages", token: box.token)
            #expect(listed.text.contains(try #require(message.ids[0])))
        }
    }

    @Test func aWaitReturnsTheOldestMatchAfterANumber() async throws {
        try await PosternServer.run { server in
            for subject in ["one", "two", "two and more"] {
                try await server.deliver(to: "x@other.test", source: "Subject: \(subject)\n\n")
            }
            let first = try await server.waitForMessage(subject: "TWO")
            #expect(first.number == 2)
            #expect(try await server.waitForMessage(subject: "two", after: 2).number == 3)
            #expect(try await server.messages(subject: "two").map(\.number) == [2, 3])
        }
    }

    @Test func aWaitInVainSaysWhatArrived() async throws {
        try await PosternServer.run { server in
            let nothing = await #expect(throws: PosternError.self) {
                try await server.waitForMessage(to: "ada@mail.test", timeout: .zero)
            }
            #expect(nothing?.description.contains("nothing arrived") == true)
            try await server.deliver(to: "bob@other.test", subject: "News")
            let other = await #expect(throws: PosternError.self) {
                try await server.waitForMessage(to: "ada@mail.test", timeout: .zero)
            }
            #expect(
                other?.description.contains("to bob@other.test, from sender@example.com: News")
                    == true)
        }
    }

    @Test func unknownRecipientsAreAnError() async throws {
        try await PosternServer.run { server in
            let error = await #expect(throws: PosternError.self) {
                try await server.deliver(to: "nobody@mail.test", text: "x")
            }
            #expect(error?.description == "There is no mailbox for nobody@mail.test.")
            await #expect(throws: PosternError.self) { try await server.deliver(text: "x") }
        }
    }

    @Test func mailFailsUntilTheFaultEnds() async throws {
        try await PosternServer.run { server in
            let application = Application(smtp: try server.smtp)
            let box = try await server.makeAccount()
            let faults: [(MailFault, String)] = [
                (.recipients, "550 "), (.messages, "554 "), (.temporary, "451 "),
            ]
            for (fault, reply) in faults {
                try server.failMail(fault)
                let sent = try await application.send("Subject: s\n\n", to: box.address)
                #expect(sent.hasPrefix(reply))
            }
            #expect(try await server.messages().isEmpty)
            try server.failMail(nil)
            try await application.sendCode(to: box.address)
            #expect(try await server.messages().count == 1)
        }
    }

    @Test func aResetRemovesMailAndItsFault() async throws {
        try await PosternServer.run { server in
            try await server.deliver(to: "x@other.test")
            try server.clearMessages()
            #expect(try await server.messages().isEmpty)
            try await server.deliver(to: "x@other.test")
            try server.failMail(.temporary)
            try await server.reset()
            #expect(try await server.messages().isEmpty)
            try await server.deliver(to: "x@other.test")
        }
    }

    @Test func withoutMailEveryCallSaysWhatToSet() async throws {
        try await PosternServer.run(settings: ["mail.store": "none"]) { server in
            let smtp = #expect(throws: PosternError.self) { _ = try server.smtp }
            #expect(smtp?.description.contains("mail.local_smtp") == true)
            let messages = await #expect(throws: PosternError.self) {
                try await server.messages()
            }
            #expect(messages?.description.contains("mail.store") == true)
            try await server.reset()
        }
    }
}
