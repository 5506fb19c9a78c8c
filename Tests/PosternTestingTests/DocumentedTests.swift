import PosternTesting
import Testing

@Test func aSessionEndsAfterAnHour() async throws {
    try await PosternServer.run { postern in
        let agent = try await postern.makeAgent("bob@mail.test")
        let before = try await postern.post("/api/v1/capability", token: agent.token)
        #expect(before.status == 200)
        try await postern.clock.advance(by: .seconds(3600))
        let after = try await postern.post("/api/v1/capability", token: agent.token)
        #expect(after.status == 401)
    }
}
