import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The successful responses of the mailbox endpoints.
struct MailboxEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func aChallengeHasItsSaltItsDifficultyAndItsExpiry() async throws {
        let response = await api.call(.get, "/api/challenge")
        let body = try response.json
        #expect(body.names == ["id", "salt", "difficulty", "expires_at"])
        #expect(body.number("difficulty") == 4)
        #expect(body.number("expires_at") == api.world.clock.now.seconds + 300)
        #expect(Hex.decode(try #require(body.text("salt")).utf8) != nil)
        #expect(response.header("Cache-Control") == "no-store")
    }

    @Test func aMailboxIsCreatedForAProofOfWork() async throws {
        let response = try await api.create(" Demo@Mail.Test ")
        #expect(response.status == .created)
        #expect(response.header("Cache-Control") == "no-store")
        let body = try response.json
        #expect(body.names == ["id", "address", "token"])
        #expect(body.text("address") == "demo@mail.test")
    }

    @Test func eitherReadingOfTheSaltIsAccepted() async throws {
        for (name, decoded) in [("text", false), ("bytes", true)] {
            let challenge = try await api.call(.get, "/api/challenge").json
            let salt = try #require(challenge.text("salt"))
            let prefix = decoded ? try #require(Hex.decode(salt.utf8)) : Array(salt.utf8)
            let nonce = try #require(
                (0..<100_000).first {
                    leadingZeroBits(SHA256.digest(prefix + Array(String($0).utf8))) >= 4
                })
            let id = try #require(challenge.text("id"))
            let response = await api.call(
                .post, "/api/accounts",
                json:
                    #"{"address":"\#(name)@mail.test","password":"supersecret","pow":{"id":"\#(id)","nonce":"\#(nonce)"}}"#
            )
            #expect(response.status == .created, "\(name)")
        }
    }

    @Test func passwordAndAuthKeyAreOneCredential() async throws {
        // Derived as clients do.
        let (_, _) = try await api.account("alice@mail.test")
        let key = try Argon2.hash(
            password: Array("supersecret".utf8),
            salt: SHA256.digest(Array("alice@mail.test".utf8)), iterations: 3,
            memoryKiB: 16_384, parallelism: 1, outputBytes: 32, variant: .argon2id)
        for hex in [Hex.encode(key), Hex.encode(key).uppercased()] {
            let response = await api.call(
                .post, "/api/token", json: #"{"address":"alice@mail.test","auth_key":"\#(hex)"}"#)
            #expect(response.status == .ok)
        }
        let both = await api.call(
            .post, "/api/token",
            json:
                #"{"address":"alice@mail.test","password":"wrong","auth_key":"\#(Hex.encode(key))"}"#
        )
        #expect(both.status == .ok)
    }

    @Test func aMailboxIsShownByIDAndByAddress() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        for reference in [id, id.uppercased(), "demo@mail.test", "Demo%40mail.test"] {
            let response = await api.call(.get, "/api/accounts/\(reference)", bearer: token)
            #expect(response.status == .ok, "\(reference)")
            let body = try response.json
            #expect(body.names == ["id", "address", "role", "quota", "used", "created_at"])
            #expect(body.text("role") == "user")
            #expect(body.number("quota") == 41_943_040)
            #expect(body.number("used") == 0)
            #expect(body.text("created_at") == api.world.clock.now.rfc3339)
        }
    }

    @Test func aResetEndsEveryToken() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        let reset = await api.call(
            .put, "/api/accounts/\(id)/reset-password", bearer: token,
            json: #"{"password":"newpassword123"}"#)
        #expect(reset.status == .ok)
        #expect(try reset.json.text("message") == "password_reset")
        let after = await api.call(.get, "/api/accounts/\(id)", bearer: token)
        try expectError(after, 401, "invalid_or_expired_token")
        try expectError(await api.login("demo@mail.test"), 401, "invalid_credentials")
        let login = await api.login("demo@mail.test", password: "newpassword123")
        #expect(login.status == .ok)
    }

    @Test func ofRacingResetsOneSucceeds() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    await api.call(
                        .put, "/api/accounts/\(id)/reset-password", bearer: token,
                        json: #"{"password":"password-\#(number)"}"#
                    ).status.code
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(statuses.count { $0 == 401 } == 19)
    }

    @Test func aDeletedMailboxIsGoneAndItsAddressStaysTaken() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        let deleted = await api.call(.delete, "/api/accounts/\(id)", bearer: token)
        #expect(deleted.status == .noContent)
        let again = await api.call(.delete, "/api/accounts/\(id)", bearer: token)
        try expectError(again, 401, "invalid_or_expired_token")
        try expectError(await api.login("demo@mail.test"), 401, "invalid_credentials")
        try expectError(try await api.create("demo@mail.test"), 409, "address_taken")
    }

    @Test func ofFiftyCreationsOfOneAddressOneSucceeds() async throws {
        var works: [String] = []
        for _ in 0..<50 { works.append(try await api.pow()) }
        let statuses = await withTaskGroup(of: Int.self) { group in
            for work in works {
                group.addTask {
                    await api.call(
                        .post, "/api/accounts",
                        json:
                            #"{"address":"demo@mail.test","password":"supersecret","pow":\#(work)}"#
                    ).status.code
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 201 } == 1)
        #expect(statuses.count { $0 == 409 } == 49)
    }

    @Test func agentsAndAccountsShareOneSetOfAddresses() async throws {
        _ = try await api.signUp("myagent")
        try expectError(try await api.create("myagent@mail.test"), 409, "address_taken")
        // An agent's mailbox has no password.
        try expectError(await api.login("myagent@mail.test"), 401, "invalid_credentials")
    }

    @Test func endpointsWithoutAuthenticationIgnoreAnInvalidToken() async throws {
        _ = try await api.account("demo@mail.test")
        for path in ["/api/challenge", "/api/domains"] {
            #expect(await api.call(.get, path, bearer: "invalid").status == .ok)
        }
        let response = await api.call(
            .post, "/api/token", bearer: "invalid",
            json: #"{"address":"demo@mail.test","password":"supersecret"}"#)
        #expect(response.status == .ok)
    }

    @Test func anEmailJWTDoesNotReplaceTheProofOfWork() async throws {
        let (_, token) = try await api.account("demo@mail.test")
        let response = await api.call(
            .post, "/api/accounts", bearer: token,
            json: #"{"address":"other@mail.test","password":"supersecret"}"#)
        try expectError(response, 400, "proof of work required")
    }

    @Test func aPasswordHas6To1024Bytes() async throws {
        for (number, (length, status)) in [(0, 400), (5, 400), (6, 201), (1024, 201), (1025, 400)]
            .enumerated()
        {
            let password = String(repeating: "p", count: length)
            let response = try await api.create("user\(number)@mail.test", password: password)
            #expect(response.status.code == status, "\(length)")
            if length == 5 { #expect(try response.code == "password_too_short") }
            if length == 1025 { #expect(try response.code == "invalid_request") }
        }
        let withNUL = try await api.create("nul@mail.test", password: "abc\\u0000def")
        #expect(withNUL.status == .created)
        #expect(await api.login("nul@mail.test", password: "abc\\u0000def").status == .ok)
        try expectError(
            await api.login("nul@mail.test", password: "abc"), 401, "invalid_credentials")
        try expectError(
            await api.login("nul@mail.test", password: ""), 401, "invalid_credentials")
    }

    @Test func aMailboxOfAUserIsCreatedWithoutAProofOfWork() async throws {
        let pro = try await api.pro()
        let response = try await api.create("owned@mail.test", bearer: pro)
        #expect(response.status == .created)
        let body = try response.json
        #expect(body.names == ["id", "address", "token"])
        let token = try #require(body.text("token"))
        let shown = try await api.call(
            .get, "/api/accounts/owned@mail.test", bearer: token
        ).json
        #expect(shown.text("id") == body.text("id"))
    }

    @Test func aResetTakesAnAuthKey() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        let key = String(repeating: "0a", count: 32)
        let reset = await api.call(
            .put, "/api/accounts/\(id)/reset-password", bearer: token,
            json: #"{"auth_key":"\#(key)"}"#)
        #expect(reset.status == .ok)
        let login = await api.call(
            .post, "/api/token", json: #"{"address":"demo@mail.test","auth_key":"\#(key)"}"#)
        #expect(login.status == .ok)
        try expectError(await api.login("demo@mail.test"), 401, "invalid_credentials")
    }

    @Test func pagesNeitherSkipNorRepeatMailboxesWhileOthersAreAdded() async throws {
        let pro = try await api.pro()
        var made: [String] = []
        for number in 0..<5 {
            let body = try await api.create("owned\(number)@mail.test", bearer: pro).json
            made.append(try #require(body.text("id")))
            api.world.clock.advance(by: .seconds(1))
        }
        let first = try await api.call(.get, "/api/user/accounts", bearer: pro).json
        let cursor = try #require(first.text("next_cursor"))
        #expect(!cursor.isEmpty)
        _ = try await api.create("late@mail.test", bearer: pro)
        let second = try await api.call(
            .get, "/api/user/accounts?cursor=\(cursor)", bearer: pro
        ).json
        #expect(second.text("next_cursor") == "")
        let ids = try ids(first) + ids(second)
        #expect(Array(ids.prefix(5)) == made)
        #expect(ids.count == 6)
        for bad in ["x", "AAAA", cursor + "A", "%00"] {
            let response = await api.call(.get, "/api/user/accounts?cursor=\(bad)", bearer: pro)
            try expectError(response, 400, "invalid_request")
        }
    }

    private func ids(_ page: JSONObject) throws -> [String] {
        try #require(page.list("accounts")).compactMap { account in
            guard case .object(let account) = account else { return nil }
            #expect(account.names == ["id", "address", "quota", "used", "created_at"])
            return account.text("id")
        }
    }

    @Test func anEmailJWTIsEndedAlone() async throws {
        let (id, token) = try await api.account("free@mail.test")
        let other = try #require(try await api.login("free@mail.test").json.text("token"))
        #expect(await api.call(.delete, "/api/token", bearer: token).status == .noContent)
        try expectError(
            await api.call(.get, "/api/accounts/\(id)", bearer: token), 401,
            "invalid_or_expired_token")
        try expectError(
            await api.call(.delete, "/api/token", bearer: token), 401, "invalid_or_expired_token")
        #expect(await api.call(.get, "/api/accounts/\(id)", bearer: other).status == .ok)
        try expectError(await api.call(.delete, "/api/token"), 401, "unauthorized")
        let pro = try await api.pro()
        try expectError(await api.call(.delete, "/api/token", bearer: pro), 403, "forbidden")
        #expect(await api.call(.get, "/api/user/me", bearer: pro).status == .ok)
        #expect(try await api.world.events.filter { $0.kind == .sessionEnded }.count == 1)
    }
}
