import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The JMAP session object (RFC 8620 §2).
struct JMAPDirectoryTests {
    @Test func theSessionObjectHasEveryMember() async throws {
        let api = try APIWorld(mailStoreURL: "https://mail.test")
        let session = try await object(api)
        #expect(
            session.names == [
                "capabilities", "accounts", "primaryAccounts", "username", "apiUrl", "downloadUrl",
                "uploadUrl", "eventSourceUrl", "state",
            ])
        let id = "myagent@mail.test"
        #expect(session.text("username") == id)
        #expect(session.object("primaryAccounts")?.text("urn:ietf:params:jmap:mail") == id)
        #expect(session.object("primaryAccounts")?.text("urn:ietf:params:jmap:submission") == id)
        #expect(session.object("accounts")?.object(id)?.text("name") == id)
        #expect(session.text("apiUrl") == "https://mail.test/jmap/")
        #expect(session.text("uploadUrl") == "https://mail.test/jmap/upload/{accountId}/")
        #expect(
            session.text("downloadUrl")
                == "https://mail.test/jmap/download/{accountId}/{blobId}/{name}?accept={type}")
        #expect(
            session.text("eventSourceUrl")
                == "https://mail.test/jmap/eventsource/?types={types}&closeafter={closeafter}&ping={ping}"
        )
    }

    @Test func theCoreCapabilityHasEveryLimitOfTheRFC() async throws {
        let session = try await object(try APIWorld())
        let core = try #require(
            session.object("capabilities")?.object("urn:ietf:params:jmap:core"))
        for name in [
            "maxSizeUpload", "maxConcurrentUpload", "maxSizeRequest", "maxConcurrentRequests",
            "maxCallsInRequest", "maxObjectsInGet", "maxObjectsInSet",
        ] {
            #expect(try #require(core.number(name)) > 0)
        }
        #expect(core.list("collationAlgorithms") != nil)
    }

    @Test func theLimitsOfTheCoreCapabilityAreTheConfiguredOnes() async throws {
        var limits = JMAPDirectory.Limits()
        limits.maxSizeUpload = 7
        limits.maxObjectsInSet = 8
        let session = try await object(try APIWorld(jmapLimits: limits))
        let core = session.object("capabilities")?.object("urn:ietf:params:jmap:core")
        #expect(core?.number("maxSizeUpload") == 7 && core?.number("maxObjectsInSet") == 8)
        #expect(core?.number("maxCallsInRequest") == 16)
        #expect(session.text("state") != (try await object(try APIWorld()).text("state")))
    }

    @Test func theStateChangesWithTheConfiguration() async throws {
        let one = try await object(try APIWorld()).text("state")
        let same = try await object(try APIWorld()).text("state")
        let other = try await object(try APIWorld(mailStoreURL: "https://mail.test")).text("state")
        #expect(one == same)
        #expect(one != other)
    }

    @Test func withoutAMailStoreItsPathNamesTheMissingSetting() async throws {
        let api = try APIWorld()
        let session = try await object(api)
        #expect(session.text("apiUrl") == "\(AgentWorld.issuer)/jmap/")
        let response = await api.call(.post, "/jmap/", json: "{}")
        #expect(response.status == .serviceUnavailable)
        #expect(response.header("Retry-After") != nil)
        #expect(try response.agentError.hint.contains("mail.jmap_url"))
    }

    @Test func withAMailStoreItsPathIsNotFoundHere() async throws {
        let api = try APIWorld(mailStoreURL: "https://mail.test")
        #expect(await api.call(.post, "/jmap/", json: "{}").status == .notFound)
    }

    @Test func theSessionObjectNeedsACapability() async throws {
        let api = try APIWorld()
        let session = try await api.signUp("myagent").session
        for bearer in [nil, session] {
            let response = await api.call(.get, "/.well-known/jmap", bearer: bearer)
            #expect(response.status == .unauthorized)
            #expect(response.header("WWW-Authenticate") == "Bearer")
        }
    }

    private func object(_ api: APIWorld) async throws -> JSONObject {
        let session = try await api.signUp("myagent").session
        let capability = try await api.call(.post, "/api/v1/capability", bearer: session).bearer
        let response = await api.call(.get, "/.well-known/jmap", bearer: capability)
        #expect(response.status == .ok)
        #expect(response.header("Cache-Control")?.contains("no-store") == true)
        return try response.json
    }
}
