import AuthAPI
import AuthCore
import HTTPEngine
import Networking
import StrictJSON
import TestSupport
import Testing

/// What proxies ask: `/forward-auth` and `/nginx-mail-auth`.
struct ProxyEndpointsTests {
    private let services: ServicesWorld

    init() async throws {
        services = try await ServicesWorld(
            settings: .init(mailServers: [
                .imap: SocketAddress(.loopback, port: 143),
                .smtp: SocketAddress(IPAddress(v6: 0, 1), port: 587),
            ]))
    }

    private func bearer(_ token: String) -> (String, String) {
        ("Authorization", "Bearer \(token)")
    }

    // MARK: /forward-auth

    @Test func aGoodCredentialPassesWithTheIdentity() async throws {
        for credential in [
            bearer(services.emailToken), bearer(try await services.capability()),
            ServicesWorld.basic(ServicesWorld.address, ServicesWorld.password),
        ] {
            let response = await services.call(.get, "/forward-auth", [credential])
            #expect(response.status == .ok && response.body.isEmpty)
            #expect(response.header("X-Auth-User") == ServicesWorld.address)
            #expect(response.header("X-Auth-Subject") == ServicesWorld.address)
            #expect(response.header("X-Account-Id") == services.accountID)
            #expect(response.header("X-Store-Authorization") == nil)
            #expect(response.header("Cache-Control") == "no-store")
        }
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "OPTIONS", "PROPFIND", "REPORT"])
    func everyMethodIsAnswered(method: String) async throws {
        let method = Method(method)
        let good = await services.call(method, "/forward-auth", [bearer(services.emailToken)])
        #expect(good.status == .ok)
        #expect(await services.call(method, "/forward-auth").status == .unauthorized)
        #expect(await services.call(method, "/nginx-mail-auth").status == .ok)
    }

    @Test func aStoreTokenIsMintedWhereTheOperatorWantsOne() async throws {
        let services = try await ServicesWorld(settings: .init(issuesStoreTokens: true))
        let response = await services.call(
            .get, "/forward-auth", [bearer(services.emailToken)])
        let value = try #require(response.header("X-Store-Authorization"))
        #expect(value.hasPrefix("Bearer "))
        let token = String(value.dropFirst("Bearer ".count))
        let read = try await services.api.world.tokens.read(
            token, as: MinimalCapabilityToken.self, at: services.api.world.clock.now)
        #expect(read?.token.subject == ServicesWorld.address)
        let introspected = await services.call(.post, "/introspect", form: "token=\(token)")
        #expect(try introspected.json["active"] == .bool(true))
    }

    @Test func aBadCredentialIs401() async throws {
        let challenge = "Bearer, Basic realm=\"mail\""
        try expectServicesError(
            await services.call(.get, "/forward-auth"), 401, "unauthorized", challenge: challenge)
        for credential in [
            bearer("garbage"), ("Authorization", "Basic garbage"), ("Authorization", "Digest x"),
            bearer(try await services.api.pro()),
        ] {
            try expectServicesError(
                await services.call(.get, "/forward-auth", [credential]), 401,
                "invalid_or_expired_token", challenge: challenge)
        }
        let twice = [bearer(services.emailToken), bearer(services.emailToken)]
        #expect(await services.call(.get, "/forward-auth", twice).status == .unauthorized)
        try expectServicesError(
            await services.call(
                .get, "/forward-auth", [ServicesWorld.basic(ServicesWorld.address, "wrong")]),
            401, "invalid_credentials", challenge: challenge)
    }

    @Test func aDisabledAccountIs401ByTokenAnd403ByPassword() async throws {
        let tokens = [services.emailToken, try await services.capability()]
        try await services.disable()
        for token in tokens {
            #expect(
                await services.call(.get, "/forward-auth", [bearer(token)]).status
                    == .unauthorized)
        }
        let password = ServicesWorld.basic(ServicesWorld.address, ServicesWorld.password)
        try expectServicesError(
            await services.call(.get, "/forward-auth", [password]), 403, "disabled")
    }

    @Test func whatMayPassLaterIs503() async throws {
        let client = IPAddress(v4: 0xc633_6401)
        let wrong = ServicesWorld.basic(ServicesWorld.address, "wrong")
        for _ in 0..<5 {
            #expect(
                await services.call(.get, "/forward-auth", [wrong], peer: client).status
                    == .unauthorized)
        }
        let right = ServicesWorld.basic(ServicesWorld.address, ServicesWorld.password)
        let throttled = await services.call(.get, "/forward-auth", [right], peer: client)
        #expect(throttled.status == .serviceUnavailable)
        #expect(throttled.header("Retry-After") != nil)
        #expect(await services.call(.get, "/forward-auth", [right]).status == .ok)
    }

    @Test func aBusyAndABrokenStoreAre503() async throws {
        let stores = try AgentWorld().stores
        let accounts = FailingAccounts(stores.accounts)
        let services = try await ServicesWorld(
            AgentWorld(stores: stores, accounts: accounts),
            settings: .init(mailServers: [.imap: SocketAddress(.loopback, port: 143)]))
        for error in [StoreBusy() as any Error, BrokenStore()] {
            accounts.error = error
            for credential in [
                bearer(services.emailToken),
                ServicesWorld.basic(ServicesWorld.address, ServicesWorld.password),
            ] {
                let response = await services.call(.get, "/forward-auth", [credential])
                #expect(response.status == .serviceUnavailable)
                #expect(response.header("Retry-After") != nil)
            }
            let introspected = await services.call(
                .post, "/introspect", form: "token=\(services.emailToken)")
            #expect(introspected.status.code == (error is StoreBusy ? 503 : 500))
            let mail = await services.call(
                .get, "/nginx-mail-auth", mailLogin(ServicesWorld.password))
            #expect(mail.status == .ok)
            #expect(
                mail.header("Auth-Status") == "Temporary server problem, try again later")
            #expect(mail.header("Auth-Error-Code") == "451 4.3.0")
        }
    }

    // MARK: /nginx-mail-auth

    private func mailLogin(
        _ password: String, user: String = "demo@mail.test", protocol name: String = "imap",
        client: String = "192.0.2.44", method: String = "plain"
    ) -> [(String, String)] {
        [
            ("Auth-Method", method), ("Auth-User", user), ("Auth-Pass", password),
            ("Auth-Protocol", name), ("Auth-Login-Attempt", "1"), ("Client-IP", client),
        ]
    }

    @Test func aRightPasswordLeadsToTheServerOfTheProtocol() async throws {
        for (name, server, port) in [("imap", "127.0.0.1", "143"), ("SMTP", "::1", "587")] {
            let response = await services.call(
                .get, "/nginx-mail-auth", mailLogin("supersecret", protocol: name))
            #expect(response.status == .ok && response.body.isEmpty)
            #expect(response.header("Auth-Status") == "OK")
            #expect(response.header("Auth-Server") == server)
            #expect(response.header("Auth-Port") == port)
            #expect(response.header("Auth-User") == nil)
        }
    }

    @Test func userAndPasswordArePercentCoded() async throws {
        #expect(
            try await services.api.create("odd@mail.test", password: "a b%é+").status.code == 201)
        let response = await services.call(
            .get, "/nginx-mail-auth", mailLogin("a%20b%25%C3%A9+", user: "Odd%40mail.test"))
        #expect(response.header("Auth-Status") == "OK")
        // The mail store knows the user by the name in lower case.
        #expect(response.header("Auth-User") == "odd@mail.test")
    }

    @Test func anythingElseIsDeniedAndHasToWait() async throws {
        let right = ServicesWorld.password
        for headers in [
            mailLogin("wrong"), mailLogin(""), mailLogin(right, user: "x@mail.test"),
            mailLogin(right, method: "cram-md5"), mailLogin(right, method: "none"),
            mailLogin(right, user: ""), [("Auth-Protocol", "imap")],
            [("Auth-Protocol", "imap"), ("Auth-User", "demo@mail.test")],
        ] {
            let response = await services.call(.get, "/nginx-mail-auth", headers)
            #expect(response.status == .ok)
            #expect(response.header("Auth-Status") == "Invalid login or password")
            #expect(response.header("Auth-Wait") == "3")
            #expect(response.header("Auth-Server") == nil)
        }
    }

    /// No account has such a password, unless it was made by other means than the API.
    @Test func aPasswordOfMoreThan1024BytesIsNotChecked() async throws {
        let world = services.api.world
        let owner = try await world.addUser("owner@example.org")
        for (length, isAccepted) in [(1024, true), (1025, false)] {
            let address = "long\(length)@mail.test"
            let password = String(repeating: "p", count: length)
            _ = try await world.mailboxes.create(
                .init(address: address, secret: .password(Array(password.utf8)), proof: nil),
                as: .user(owner), by: world.caller)
            let mail = await services.call(
                .get, "/nginx-mail-auth", mailLogin(password, user: address))
            #expect((mail.header("Auth-Status") == "OK") == isAccepted, "\(length)")
            let web = await services.call(
                .get, "/forward-auth", [ServicesWorld.basic(address, password)])
            #expect((web.status == .ok) == isAccepted, "\(length)")
        }
    }

    @Test func aProtocolWithoutAServerIsUnavailable() async throws {
        for name in ["pop3", "xyz", ""] {
            let response = await services.call(
                .get, "/nginx-mail-auth", mailLogin("supersecret", protocol: name))
            #expect(response.header("Auth-Status") == "No mail server for this protocol")
            #expect(response.header("Auth-Server") == nil)
        }
    }

    @Test func failuresAreThrottledByTheClientThatNginxNames() async throws {
        for _ in 0..<7 {
            let response = await services.call(
                .get, "/nginx-mail-auth", mailLogin("wrong", client: "198.51.100.1"))
            #expect(response.header("Auth-Status") == "Invalid login or password")
        }
        let throttled = await services.call(
            .get, "/nginx-mail-auth", mailLogin("supersecret", client: "198.51.100.1"))
        #expect(throttled.header("Auth-Status") == "Invalid login or password")
        for client in ["203.0.113.1", "unix:"] {
            let other = await services.call(
                .get, "/nginx-mail-auth", mailLogin("supersecret", client: client))
            #expect(other.header("Auth-Status") == "OK")
        }
    }
}
