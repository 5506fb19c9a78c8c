internal import AuthCore
internal import Configuration
internal import Cryptography

/// The parts that only the test profile has: a clock that can be set, and `/test/…`.
struct TestProfile: Sendable {
    let clock = AdjustableClock(SystemClock.clocks)

    /// - Returns: `nil` in every other profile.
    init?(_ config: Config) {
        guard config.profile == .test else { return nil }
    }

    func fixtures(of application: Application, _ tasks: BackgroundTasks) -> TestFixtures {
        let useCases = application.useCases
        return TestFixtures(
            agents: useCases.agents, mailboxes: useCases.mailboxes, users: useCases.users,
            apiTokens: useCases.apiTokens, stores: application.stores, clock: clock,
            random: RandomBytes.make, runDueTasks: tasks.runDue)
    }
}
