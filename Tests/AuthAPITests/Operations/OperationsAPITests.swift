import AuthCore
import HTTPEngine
import Synchronization
import TestPrimitives
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

    @Test func theDatabaseIsAskedAtMostOnceASecond() async throws {
        let pings = Mutex(0)
        let fails = Mutex(false)
        let api = try APIWorld(pingDatabase: {
            pings.withLock { $0 += 1 }
            if fails.withLock({ $0 }) { throw StoreBusy() }
        })
        for _ in 0..<50 { #expect(await api.call(.get, "/readyz").status == .ok) }
        #expect(pings.withLock { $0 } == 1)
        fails.withLock { $0 = true }
        api.world.clock.advance(by: .milliseconds(999))
        #expect(await api.call(.get, "/readyz").status == .ok)
        api.world.clock.advance(by: .milliseconds(1))
        for _ in 0..<50 {
            #expect(await api.call(.get, "/readyz").status == .serviceUnavailable)
        }
        #expect(pings.withLock { $0 } == 2)
    }

    @Test func requestsThatComeWhileTheDatabaseIsAskedShareTheAnswer() async throws {
        let pings = Mutex(0)
        let gate = Latch()
        let api = try APIWorld(pingDatabase: {
            pings.withLock { $0 += 1 }
            await gate.wait()
        })
        try await withThrowingTaskGroup(of: Response.self) { group in
            for _ in 0..<20 { group.addImmediateTask { await api.call(.get, "/readyz") } }
            gate.open()
            for try await response in group { #expect(response.status == .ok) }
        }
        #expect(pings.withLock { $0 } == 1)
    }

    @Test func errorsHaveTheShapeOfTheAgentAPI() async throws {
        let api = try APIWorld()
        let response = await api.call(.post, "/healthz")
        #expect(response.status == .methodNotAllowed)
        #expect(try response.agentError.hint.contains("GET"))
    }
}
