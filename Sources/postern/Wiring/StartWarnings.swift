internal import Configuration
internal import Platform

extension LoadedConfig {
    /// Warnings for the operator before a start: `serve` logs them, `check-config` prints them.
    var startWarnings: [String] {
        let exposures =
            [
                MasterSecret.exposure(for: config),
                SecretFile.exposure("storage.url", databasePasswordFile),
                SecretFile.exposure("services.secret_file", config.services.secretFile),
                SecretFile.exposure("provisioning.secret_file", config.provisioning.secretFile),
                SecretFile.exposure("mailer.password_file", config.mailer.passwordFile),
            ] + config.users.providers.map { SecretFile.exposure("users.providers", $0.secretFile) }
        let certificates = CertificateChecks(config: config, now: SystemClock.now()).findings()
            .filter { $0.outcome != .ok }.map(\.text)
        return warnings.map(\.shown) + exposures.compactMap { $0 } + certificates
    }
}
