import TestPrimitives
import Testing

@testable import Platform

@Suite struct SecretFileTests {
    private let scratch = Scratch()

    @Test(arguments: [(UInt32(0o600), false), (0o400, false), (0o640, true), (0o644, true)])
    func aSecretThatOthersMayReadIsAWarning(mode: UInt32, isWarned: Bool) {
        #expect(SecretFile.exposure("services.secret_file", nil) == nil)
        let path = scratch.write("secret", Array("0123456789abcdef".utf8), mode: mode)
        let warning = SecretFile.exposure("services.secret_file", path)
        #expect((warning != nil) == isWarned)
        if let warning {
            #expect(warning.hasPrefix("services.secret_file: \(path) can be read by others"))
        }
    }
}
