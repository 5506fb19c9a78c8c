import AuthAPI
import Networking
import Testing

@testable import Configuration
@testable import Platform

@Suite struct ServicesSectionTests {
    private func load(_ variables: [String: String]) throws -> ServicesSection {
        let named = variables.map { ("POSTERN_SERVICES_\($0.key)", $0.value) }
        let loader = ConfigLoader(
            path: nil, environment: Dictionary(uniqueKeysWithValues: named),
            readFile: { _ throws(FileError) in throw .missing })
        return try loader.load().config.services
    }

    private func faults(_ variables: [String: String]) -> [String] {
        do {
            _ = try load(variables)
            return []
        } catch let error as ConfigFaults {
            return error.faults.map(\.key)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func thereIsNoListenerUnlessOneIsSet() throws {
        #expect(try load([:]).listen == nil)
    }

    @Test(arguments: ["127.0.0.1:8081", "127.8.8.8:1", "[::1]:65535", "unix:/run/s", "unix:s"])
    func aLocalAddressNeedsNoSecret(text: String) throws {
        let address = try #require(try load(["LISTEN": text]).listen)
        #expect(address.text == text && address.isLocal)
    }

    @Test(arguments: ["0.0.0.0:8081", "192.0.2.1:8081", "[::]:8081", "[2001:db8::1]:8081"])
    func anAddressForOtherMachinesNeedsASecret(text: String) throws {
        #expect(faults(["LISTEN": text]) == ["services.listen"])
        #expect(try load(["LISTEN": text, "SECRET_FILE": "/s"]).listen?.isLocal == false)
    }

    @Test(arguments: [
        "", "8081", "localhost:8081", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "unix:",
        "unix:\(String(repeating: "x", count: 108))", "*:8081", "http://127.0.0.1:8081",
    ])
    func anythingElseIsAFault(text: String) {
        #expect(faults(["LISTEN": text]) == ["services.listen"])
    }

    @Test(arguments: ["127.0.0.1:8082", "[::1]:1", "unix:/run/s"])
    func theSocketmapIsOnThisMachine(text: String) throws {
        #expect(try load(["SOCKETMAP": text]).socketmap?.text == text)
        for other in ["0.0.0.0:8082", "192.0.2.1:8082", "8082", "unix:"] {
            // A secret does not help: the protocol has none.
            #expect(
                faults(["SOCKETMAP": other, "SECRET_FILE": "/s"]) == ["services.socketmap"])
        }
        #expect(try load([:]).socketmap == nil)
    }

    @Test func twoListenersCannotHaveOneAddress() throws {
        #expect(faults(["LISTEN": "unix:s", "SOCKETMAP": "unix:s"]) == ["services.socketmap"])
        #expect(faults(["LISTEN": "unix:s", "SOCKETMAP": "unix:t"]).isEmpty)
    }

    @Test(arguments: [("0660", UInt32(0o660)), ("600", 0o600), ("0777", 0o777)])
    func aModeIsOctal(text: String, mode: UInt32) throws {
        #expect(try load(["SOCKET_MODE": text]).socketMode == mode)
    }

    @Test(arguments: ["", "6", "0o660", "0980", "1777", "rw-rw----", "-660"])
    func anythingElseIsNoMode(text: String) {
        #expect(faults(["SOCKET_MODE": text]) == ["services.socket_mode"])
    }

    @Test func anOwnerIsAUserAGroupOrBoth() throws {
        for (text, user, group) in [
            ("postern", "postern", nil), ("postern:mail", "postern", "mail"),
            (":mail", nil, "mail"), ("100:8", "100", "8"),
        ] as [(String, String?, String?)] {
            let owner = try load(["SOCKET_OWNER": text]).socketOwner
            #expect(owner?.user == user && owner?.group == group && owner?.text == text)
        }
        for text in ["", ":", "a:b:c", "a b", "a/b"] {
            #expect(faults(["SOCKET_OWNER": text]) == ["services.socket_owner"])
        }
    }

    @Test func eachProtocolHasOneServer() throws {
        let backends = try load(["MAIL_BACKENDS": "imap=127.0.0.1:143,smtp=[::1]:587"])
            .mailBackends
        #expect(backends.map(\.mailProtocol) == [.imap, .smtp])
        #expect(backends.map(\.address.port) == [143, 587])
        for text in [
            "imap", "imap=", "imap=127.0.0.1", "nntp=127.0.0.1:119", "imap=localhost:143",
            "imap=127.0.0.1:1,imap=127.0.0.1:2",
        ] {
            #expect(faults(["MAIL_BACKENDS": text]) == ["services.mail_backends"])
        }
    }
}
