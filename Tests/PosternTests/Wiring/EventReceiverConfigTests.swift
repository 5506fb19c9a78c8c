import Provisioning
import TestPrimitives
import Testing

@testable import Configuration
@testable import postern

@Suite struct EventReceiverConfigTests {
    private let scratch = Scratch()

    @Test func thereIsNoneUnlessAURLIsSet() throws {
        var config = Config()
        #expect(try EventReceiver(config) == nil)
        config.provisioning.url = ReceiverURL("https://a.test/events")
        config.provisioning.secretFile = scratch.write(
            "secret", Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8))
        #expect(try EventReceiver(config) != nil)
    }
}
