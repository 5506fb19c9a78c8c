import AuthCore
import TestSupport
import Testing

@testable import AuthAPI

struct AgentStepsTests {
    private func steps(session: Duration, capability: Duration) -> AgentSteps {
        AgentSteps(
            publicURL: AgentWorld.issuer,
            settings: Agents.Settings(
                salt: AgentWorld.salt, scrypt: AgentWorld.scrypt,
                challengeLifetime: .seconds(180), sessionLifetime: session,
                capabilityLifetime: capability, mailSubject: .address, quota: 0))
    }

    @Test func theTextsNameTheConfiguredLifetimes() {
        let steps = steps(session: .seconds(5400), capability: .seconds(45))
        for texts in [steps.afterSignup, steps.afterLogin] {
            #expect(texts.contains { $0.hasSuffix("valid for 90 minutes") })
        }
        #expect(steps.afterCapability.contains { $0.hasSuffix("valid for 45 seconds") })
    }

    @Test func theTextsLinkToThisServer() {
        let steps = steps(session: .seconds(3600), capability: .seconds(120))
        for texts in [
            steps.afterChallenge, steps.afterSignup, steps.afterLogin, steps.afterCapability,
            steps.afterRenewal,
        ] {
            #expect(texts.contains { $0.contains(" \(AgentWorld.issuer)/") })
        }
    }
}
