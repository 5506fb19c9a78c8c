import AuthCore
import HTTPEngine
import Networking
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// What the APIs report as security events.
struct SecurityEventTests {
    private func events(_ api: APIWorld) -> [String] {
        api.events.entries.map { "\($0.0.kind.rawValue) \($0.0.subject) \($0.1)" }
    }

    @Test func aRejectedTokenIsAnEventOfEveryAPI() async throws {
        let api = try APIWorld()
        let calls: [(HTTPEngine.Method, String)] = [
            (.post, "/api/v1/session"), (.post, "/api/v1/capability"), (.get, "/.well-known/jmap"),
            (.get, "/api/user/accounts"), (.get, "/api/user/me"), (.post, "/validate"),
        ]
        for (method, path) in calls {
            for _ in 0..<3 {
                let body = path == "/api/v1/session" ? "{}" : nil
                let response = await api.call(
                    method, path, bearer: "forged", json: body,
                    headers: [("Accept", "application/json")])
                #expect(response.status == .unauthorized, "\(path)")
            }
        }
        #expect(events(api) == calls.map { "token_rejected \($0.1) 1" })
        api.folder.flush()
        #expect(
            Set(events(api).dropFirst(calls.count))
                == Set(calls.map { "token_rejected \($0.1) 2" }))
    }

    @Test func aRequestWithoutATokenIsNone() async throws {
        let api = try APIWorld()
        for (method, path) in [
            (.post, "/api/v1/session"), (.post, "/api/v1/capability"), (.get, "/api/user/me"),
        ] as [(HTTPEngine.Method, String)] {
            #expect(await api.call(method, path).status == .unauthorized)
        }
        #expect(events(api).isEmpty)
    }

    @Test func aThrottledLoginIsAnEventAndALimitedRequestIsNone() async throws {
        let api = try APIWorld(AgentWorld(limits: true))
        for _ in 0..<30 { _ = await api.call(.get, "/api/challenge") }
        #expect(events(api).isEmpty)
        var statuses: [Int] = []
        for number in 0..<12 {
            api.world.clock.advance(by: .milliseconds(200))
            statuses.append(
                await api.login("nobody@mail.test", password: "wrong \(number)").status.code)
        }
        #expect(statuses.contains(401) && statuses.last == 429)
        #expect(events(api) == ["attempt_throttled /api/token 1"])
        #expect(api.events.entries.first?.0.client == .loopback)
    }
}
