import AuthCore
import HTTPEngine
import TestSupport
import Testing

@testable import AuthAPI

struct OperationsAPITests {
    @Test func aRunningServerIsHealthyAndReady() async throws {
        let api = try APIWorld()
        for path in ["/healthz", "/readyz"] {
            let response = await api.call(.get, path)
            #expect(response.status == .ok)
            #expect(String(decoding: response.body, as: UTF8.self) == #"{"status":"ok"}"#)
        }
    }

    @Test func aDrainingServerIsHealthyButNotReady() async throws {
        let api = try APIWorld(isDraining: true)
        #expect(await api.call(.get, "/healthz").status == .ok)
        let response = await api.call(.get, "/readyz")
        #expect(response.status == .serviceUnavailable)
        #expect(response.header("Retry-After") == "1")
    }

    @Test func aDatabaseThatDoesNotAnswerIsNotReady() async throws {
        let api = try APIWorld(pingDatabase: { throw StoreBusy() })
        #expect(await api.call(.get, "/readyz").status == .serviceUnavailable)
        #expect(await api.call(.get, "/healthz").status == .ok)
    }

    @Test func errorsHaveTheShapeOfTheAgentAPI() async throws {
        let api = try APIWorld()
        let response = await api.call(.post, "/healthz")
        #expect(response.status == .methodNotAllowed)
        #expect(try response.agentError.hint.contains("GET"))
    }
}
