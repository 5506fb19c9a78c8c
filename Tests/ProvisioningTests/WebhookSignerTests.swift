import AuthCore
import Cryptography
import TestPrimitives
import Testing

@testable import Provisioning

@Suite struct WebhookSignerTests {
    /// 24 bytes.
    private let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func signer(_ text: String) -> WebhookSigner? {
        WebhookSigner(file: Array(text.utf8))
    }

    private func fields(_ signer: WebhookSigner) -> [String: String] {
        let fields = signer.fields(
            of: "msg_p5jXN8AQM9LWM0D4loKWxJek", Array(#"{"test": 2432232314}"#.utf8),
            at: Instant(seconds: 1_614_265_330))
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
    }

    /// The vector of the libraries of Standard Webhooks.
    @Test(arguments: ["", "whsec_"], ["", "\n", "\r\n"])
    func aMessageIsSignedAsOtherProgramsVerifyIt(prefix: String, end: String) throws {
        #expect(
            fields(try #require(signer(prefix + secret + end))) == [
                "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
                "webhook-timestamp": "1614265330",
                "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ])
    }

    @Test func eachSecretSigns() throws {
        let other = Base64.encode([UInt8](repeating: 7, count: 64))
        let both = fields(try #require(signer("whsec_\(other)\n\nwhsec_\(secret)\n")))
        let one = fields(try #require(signer(other)))
        #expect(
            both["webhook-signature"]
                == "\(one["webhook-signature"] ?? "") v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        )
    }

    @Test(arguments: [
        "", "\n", "whsec_", "whsec_MfKQ", "not base64!", "whsec_ MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw \n", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\nshort",
        "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ])
    func anythingElseIsNoSecret(text: String) {
        #expect(signer(text) == nil)
    }

    @Test func aSecretHasALength() {
        for (count, isAccepted) in [(23, false), (24, true), (64, true), (65, false)] {
            let text = Base64.encode([UInt8](repeating: 1, count: count))
            #expect((signer(text) != nil) == isAccepted, "\(count)")
        }
        let many = Array(repeating: secret, count: 5).joined(separator: "\n")
        #expect(signer(many) == nil)
    }
}

@Suite struct EventReceiverTests {
    private let scratch = Scratch()

    private func settings(_ path: String) throws -> EventReceiver.Settings {
        let domain = try #require(Domain(parsing: "a.test"))
        return EventReceiver.Settings(
            url: "https://a.test/events", secretFile: path,
            names: MailNames(subject: .address, firstDomain: domain), timeout: .seconds(1),
            inFlight: 1)
    }

    @Test func aSecretMayEndWithALineBreak() throws {
        let path = scratch.write(
            "secret", Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8))
        #expect(throws: Never.self) { _ = try EventReceiver(settings(path)) }
    }

    @Test(arguments: [("", UInt32(0o600)), ("short\n", 0o600), ("", 0o622)])
    func aSecretThatCannotBeUsedIsAFault(text: String, mode: UInt32) {
        let content = mode == 0o622 ? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n" : text
        let path = scratch.write("secret", Array(content.utf8), mode: mode)
        #expect(throws: ProvisioningError.self) { _ = try EventReceiver(settings(path)) }
    }

    @Test func aMissingSecretIsAFaultThatNamesTheFile() {
        let error = #expect(throws: ProvisioningError.self) {
            _ = try EventReceiver(settings("/nonexistent/secret"))
        }
        #expect("\(String(describing: error))".contains("/nonexistent/secret"))
    }
}
