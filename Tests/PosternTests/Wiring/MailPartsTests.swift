import Fetching
import TestPrimitives
import Testing

@testable import Configuration
@testable import postern

/// The relay of a configuration.
@Suite struct MailPartsTests {
    private let scratch = Scratch()

    private func relay(password: String?, mode: UInt32 = 0o600) throws -> MailRelay? {
        var config = Config(profile: .test)
        config.mailer.host = "smtp.example.com"
        config.mailer.encryption = .tls
        if let password {
            config.mailer.account = "postern"
            config.mailer.passwordFile = scratch.write(
                "password", Array(password.utf8), mode: mode)
        }
        return try MailRelay(config, publicURL: "https://auth.example.com:8443/x")
    }

    @Test func withoutAHostThereIsNoRelay() throws {
        #expect(try MailRelay(Config(profile: .test), publicURL: "https://a.example")?.name == nil)
    }

    @Test func theRelayKnowsThisServerByItsPublicName() throws {
        let relay = try #require(try relay(password: nil))
        #expect(relay.clientName == "auth.example.com")
        #expect(relay.name == "smtp.example.com:465")
        #expect(relay.login?.description == nil)
    }

    @Test(arguments: ["secret", "secret\n", "secret\r\nmore\n"])
    func aPasswordIsTheFirstLineOfItsFile(content: String) throws {
        #expect(try relay(password: content)?.login?.description == "<redacted>")
    }

    @Test(arguments: ["", "\n", "\nsecret", "p\u{e4}ss"])
    func anythingElseIsAnError(content: String) {
        #expect(throws: MailerError.self) { try relay(password: content) }
    }

    @Test func aPasswordThatOthersMayReplaceIsNotUsed() {
        #expect(throws: MailerError.self) { try relay(password: "secret", mode: 0o622) }
    }
}
