import FoundationEssentials
import PosternTesting
import Testing

@Suite struct PosternServerTests {
    @Test func severalServersAtOnceShareNothing() async throws {
        let servers = try await withThrowingTaskGroup(of: PosternServer.self) { group in
            for _ in 0..<4 { group.addTask { try await PosternServer.start() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(servers.map(\.url)).count == 4)
        for (index, server) in servers.enumerated() {
            let agent = try await server.makeAgent("bob@mail.test")
            for (other, one) in servers.enumerated() {
                let answer = try await one.post("/api/v1/capability", token: agent.token)
                #expect(answer.status == (other == index ? 200 : 401))
            }
        }
        for server in servers { await server.stop() }
        await #expect(throws: (any Error).self) { try await servers[0].get("/healthz") }
    }

    @Test func whatItMakesCanBeUsed() async throws {
        try await PosternServer.run(settings: ["mail.domains": "a.test,b.test"]) { server in
            let user = try await server.makeUser("ada@example.com", password: "correct horse")
            let box = try await server.makeAccount(
                "x@b.test", password: "secret", owner: user.email)
            #expect(try await server.makeAgent().address.hasSuffix("@a.test"))
            let login = try await server.post(
                "/api/token", json: #"{"address":"x@b.test","password":"secret"}"#)
            #expect(login.status == 200 && login.text.contains(box.id))
            let api = try await server.makeAPIToken(
                forUser: user.email, lifetime: .seconds(60), scopes: ["accounts"])
            #expect(api.id != nil && api.expiry.map { $0 > server.clock.now } == true)
            let tokens = [
                user.token, api.text, try await server.makeToken(forUser: user.email).text,
                try await server.makeAPIToken(forUser: user.email).text,
            ]
            for token in tokens {
                let owned = try await server.get("/api/user/accounts", token: token)
                #expect(owned.status == 200 && owned.text.contains(box.id))
            }
            for token in [
                box.token, try await server.makeToken(forAccount: box.address).text,
                try await server.makeCapability(for: box.address).text,
            ] {
                #expect(try await server.get("/userinfo", token: token).status == 200)
            }
        }
    }

    @Test func aResetEmptiesTheServer() async throws {
        try await PosternServer.run { server in
            let account = try await server.makeAccount()
            try await server.clock.set(to: Date(timeIntervalSince1970: 2_000_000_000))
            #expect(server.clock.now >= Date(timeIntervalSince1970: 2_000_000_000))
            let event = try #require(try await server.events().first)
            #expect(event.kind == "account_created" && event.subject == account.address)
            #expect(try await server.events(after: event.number).isEmpty)
            try await server.reset()
            #expect(try await server.events().isEmpty)
            #expect(server.clock.now < Date(timeIntervalSinceNow: 3600))
            #expect(try await server.get("/userinfo", token: account.token).status == 401)
            _ = try await server.makeAccount(account.address)
        }
    }

    @Test func whatIsWrongIsSaid() async throws {
        let wrong = await #expect(throws: (any Error).self) {
            try await PosternServer.start(settings: [
                "users.registration": "sometimes", "no.key": "1",
            ])
        }
        #expect("\(try #require(wrong))".contains("users.registration"))
        #expect("\(try #require(wrong))".contains("POSTERN_NO_KEY"))
        try await PosternServer.run { server in
            _ = try await server.makeAccount("x@mail.test")
            let taken = await #expect(throws: PosternError.self) {
                try await server.makeAccount("x@mail.test")
            }
            #expect(taken?.description == "addressTaken")
            await #expect(throws: PosternError.self) {
                try await server.clock.set(to: Date(timeIntervalSince1970: -1))
            }
            await #expect(throws: PosternError.self) {
                try await server.makeAPIToken(forUser: "a@b.test", scopes: ["everything"])
            }
        }
    }

    @Test func aServerThatCannotStartClosesItsDatabase() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "postern-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var settings = ["storage.directory": directory.path]
        // In a directory that is missing still when the server's own has been made.
        settings["services.listen"] = "unix:\(directory.path)/missing/services"
        let fault = await #expect(throws: (any Error).self) {
            try await PosternServer.start(settings: settings)
        }
        #expect("\(try #require(fault))".contains("missing/services"))
        let database = directory.appending(path: "postern.db").path
        #expect(FileManager.default.fileExists(atPath: database))
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(!open.isEmpty && !open.contains { $0.hasPrefix(database) })
        settings["services.listen"] = nil
        try await PosternServer.run(settings: settings) { server in
            let ready = try await server.get("/readyz")
            #expect(ready.status == 200)
        }
    }

    @Test func theEndpointsOfTheTestProfileAreServedToo() async throws {
        try await PosternServer.run { server in
            let answer = try await server.post("/test/reset")
            #expect(answer.status == 204)
        }
    }
}
