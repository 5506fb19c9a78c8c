internal import AuthAPI
internal import AuthCore
internal import Cryptography
internal import HTTPEngine

/// What the test profile has and no other: a clock that can be set, and `/test/…`.
struct TestProfile: Sendable {
    let clock = AdjustableClock(SystemClock.clocks)

    /// - Returns: `nil` in every other profile.
    init?(_ config: Config) {
        guard config.profile == .test else { return nil }
    }

    /// What the public listener of the test profile serves.
    func router(of application: Application, _ tasks: BackgroundTasks) -> Router {
        let useCases = application.useCases
        let fixtures = TestFixtures(
            agents: useCases.agents, mailboxes: useCases.mailboxes, users: useCases.users,
            apiTokens: useCases.apiTokens, stores: application.stores, clock: clock,
            random: RandomBytes.make, runDueTasks: tasks.runDue)
        return application.apis.router(with: TestAPI(fixtures: fixtures, clock: clock.clocks))
    }
}
