internal import Networking

/// `[testing]`: settings for the test profile only.
struct TestingSection: Sendable {
    /// Whether the test profile may listen on an address that other machines can reach. Anyone who
    /// can connect can act as every user (docs/test-suites.md).
    var isExposed = false

    static let settings = [Setting("testing.exposed", \.testing.isExposed, .boolean)]
}
