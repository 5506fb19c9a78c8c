import AuthAPI
import Cryptography
import Glibc
import HTTPEngine
import Networking
import TestPrimitives
import Testing

@testable import Configuration
@testable import postern

@Suite struct ServicesListenerTests {
    private let scratch = Scratch()

    private func settings(_ content: String, mode: UInt32 = 0o600) throws -> ServicesAPI.Settings {
        var services = ServicesSection()
        services.secretFile = scratch.write("secret", Array(content.utf8), mode: mode)
        return try ServicesAPI.Settings(services, isServed: true)
    }

    @Test(arguments: ["0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\n"])
    func theSecretIsTheLineOfTheFile(content: String) throws {
        let secret = try #require(try settings(content).secret)
        #expect(secret.bytes == Array("0123456789abcdef".utf8))
        // An orchestrator's mounted secret can often be read by all.
        #expect(try settings(content, mode: 0o444).secret != nil)
    }

    @Test(arguments: ["", "short", "0123456789abcde\n", "0123456789 abcdef", "0123456789abcdef\na"])
    func anythingElseIsAnError(content: String) {
        #expect(throws: ServicesListenerError.self) { try settings(content) }
    }

    @Test func aFileThatOthersMayReplaceOrThatIsMissingIsAnError() throws {
        #expect(throws: ServicesListenerError.self) {
            try settings("0123456789abcdef", mode: 0o622)
        }
        var services = ServicesSection()
        services.secretFile = "\(scratch.path)/nowhere"
        #expect(throws: ServicesListenerError.self) {
            try ServicesAPI.Settings(services, isServed: true)
        }
        // Without a listener it is not read.
        #expect(try ServicesAPI.Settings(services, isServed: false).secret == nil)
    }

    @Test func namesOfUsersAndGroupsBecomeNumbers() throws {
        var config = Config()
        config.mail.store = .none
        config.services.socketMode = 0o640
        config.services.socketOwner = FileOwner("root:root")
        let path = "\(scratch.path)/s"
        config.services.listen = .unix(path: path)
        config.services.socketmap = .unix(path: "m")
        func addresses() throws -> [ListenAddress] {
            try ListenPlace.all(config).dropFirst().map(\.address)
        }
        #expect(
            try addresses()
                == [path, "m"].map {
                    .unix(SocketFile(path: $0, mode: 0o640, owner: 0, group: 0))
                })
        config.services.socketOwner = FileOwner(":7")
        config.services.listen = nil
        #expect(
            try addresses() == [.unix(SocketFile(path: "m", mode: 0o640, group: 7))])
        config.services.socketOwner = FileOwner("nobody-of-that-name")
        #expect(throws: ServicesListenerError.unknown("user", "nobody-of-that-name")) {
            try addresses()
        }
    }

    @Test func servicesOnThisMachineNameTheEndUsersAddress() throws {
        let router = Router(groups: []) { error, _ in Response(status: error.status) }
        let service = ServicesListener.service(router, Config())
        #expect(service.proxies.addresses.map(\.description) == ["127.0.0.0/8", "::1"])
        #expect(!service.sharesLimits && service.proxies.proxyProtocol == .off)
    }
}
