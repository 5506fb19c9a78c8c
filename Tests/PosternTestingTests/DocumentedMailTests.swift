import PosternTesting
import Testing

@Test func aPersonLogsInWithTheCodeOfTheMessage() async throws {
    try await PosternServer.run { postern in
        let application = Application(smtp: try postern.smtp)
        let box = try await postern.makeAccount("ada@mail.test")
        try await application.sendCode(to: box.address)
        let message = try await postern.waitForMessage(
            to: box.address, subject: "code", timeout: .seconds(10))
        #expect(message.links == ["https://shop.example/help"])
        let code = try #require(message.codes.first)
        #expect(application.logIn(box.address, code: code))
    }
}
