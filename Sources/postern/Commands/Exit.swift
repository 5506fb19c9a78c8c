internal import ArgumentParser
internal import AuthCore
internal import AuthStorage

/// Why the program ended, for scripts; the numbers are those of `sysexits.h`. 0 is success, 1 a
/// command that did not do what it was asked to, 64 a wrong command line.
enum Exit {
    /// EX_UNAVAILABLE: the server, or the service it needs, cannot be had.
    static let unavailable = ExitCode(69)
    /// EX_CONFIG: the configuration or the data directory is not accepted.
    static let misconfigured = ExitCode(78)

    static func code(for error: any Error) -> ExitCode {
        switch error {
        case is ServerRefusal, is SignupFault, is ChallengeFault, is DomainFault, is BackupFault:
            .failure
        case is MasterSecretFault, is UnreadableKey, is MigrationError: misconfigured
        default: unavailable
        }
    }
}
