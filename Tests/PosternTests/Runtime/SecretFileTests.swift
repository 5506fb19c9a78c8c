import Testing

@testable import postern

@Suite struct SecretFileTests {
    private let scratch = Scratch()

    @Test(arguments: [(UInt32(0o600), false), (0o400, false), (0o640, true), (0o644, true)])
    func aSecretThatOthersMayReadIsAWarning(mode: UInt32, isWarned: Bool) {
        var config = Config()
        #expect(SecretFile.exposures(of: config).isEmpty)
        let path = scratch.write("secret", Array("0123456789abcdef".utf8), mode: mode)
        (config.services.secretFile, config.provisioning.secretFile) = (path, path)
        let warnings = SecretFile.exposures(of: config)
        #expect(warnings.count == (isWarned ? 2 : 0))
        for (warning, section) in zip(warnings, ["services", "provisioning"]) {
            #expect(warning.hasPrefix("\(section).secret_file: \(path) can be read by others"))
        }
    }
}
