import Cryptography
import Testing

@testable import AuthCore
@testable import Configuration
@testable import postern

/// Which files each layout has.
@Suite struct KeyExportTests {
    private let keys = ["new", "old"].map { key($0) }

    private static func key(
        _ id: String, _ algorithm: SignatureAlgorithm = .rs256
    ) -> PublishedKey {
        PublishedKey(
            id: id, algorithm: algorithm, parameters: .ed25519(x: []), pem: "PEM of \(id)")
    }

    private func files(
        _ layout: KeyLayout, _ use: KeyUse = .capability, namesKey: Bool = true
    ) throws -> [String: String] {
        try KeyExport(use: use, layout: layout, namesKey: namesKey)
            .files(of: keys, signer: "old")
            .mapValues { String(decoding: $0, as: UTF8.self) }
    }

    @Test func cyrusGetsTheKeyThatSignsNowAndNoOther() throws {
        #expect(try files(.cyrus) == ["capability.pem": "PEM of old"])
        #expect(try files(.cyrus, .login) == ["login.pem": "PEM of old"])
    }

    @Test func dovecotGetsEveryKeyByItsIDAndADefaultWhereTokensNameNone() throws {
        let byID = ["default/RS256/new": "PEM of new", "default/RS256/old": "PEM of old"]
        #expect(try files(.dovecot) == byID)
        #expect(
            try files(.dovecot, namesKey: false)
                == byID.merging(["default/RS256/default": "PEM of old"]) { first, _ in first })
    }

    @Test func pemHasOneFileForEachKey() throws {
        #expect(try files(.pem) == ["new.pem": "PEM of new", "old.pem": "PEM of old"])
    }

    @Test func dovecotGetsEachKeyInTheDirectoryOfItsAlgorithm() throws {
        let export = KeyExport(use: .capability, layout: .dovecot, namesKey: false)
        let keys = [Self.key("c", .es256), Self.key("b", .edDSA), Self.key("a")]
        let files = try export.files(of: keys, signer: "c")
        #expect(
            Set(files.keys)
                == ["default/ES256/c", "default/ES256/default", "default/RS256/a"])
        #expect(export.unusable(among: keys, signer: "c").map(\.id) == ["b"])
    }

    @Test func cyrusGetsNoKeyThatItCannotUse() throws {
        let export = KeyExport(use: .capability, layout: .cyrus, namesKey: true)
        for algorithm in [SignatureAlgorithm.es256, .edDSA] {
            let keys = [Self.key("new", algorithm), Self.key("old")]
            #expect(try export.files(of: keys, signer: "new").isEmpty)
            #expect(export.unusable(among: keys, signer: "new").map(\.id) == ["new"])
            // The other one is not needed there before it signs.
            #expect(try export.files(of: keys, signer: "old").count == 1)
            #expect(export.unusable(among: keys, signer: "old").isEmpty)
        }
    }

    @Test func pemTakesEveryAlgorithm() throws {
        let keys = SignatureAlgorithm.allCases.map { Self.key($0.rawValue, $0) }
        let export = KeyExport(use: .capability, layout: .pem, namesKey: true)
        #expect(try export.files(of: keys, signer: "RS256").count == 3)
        #expect(export.unusable(among: keys, signer: "RS256").isEmpty)
    }

    @Test(arguments: ["../a", "a/b", "", ".a", "a\nb", String(repeating: "a", count: 65)])
    func anIDThatIsNoNameOfAFileIsAnError(id: String) {
        let key = Self.key(id)
        #expect(throws: KeyDirectoryError.unusableID(id)) {
            _ = try KeyExport(use: .capability, layout: .pem, namesKey: true)
                .files(of: [key], signer: id)
        }
    }

    @Test func whetherTokensNameTheirKeyFollowsFromTheSettings() {
        var config = Config()
        #expect(KeyExport(of: .capability, as: .dovecot, config).namesKey)
        config.tokens.capabilityClaims = .minimal
        #expect(!KeyExport(of: .capability, as: .dovecot, config).namesKey)
        config.tokens.capabilityClaims = .full
        config.tokens.capabilityKeyID = false
        #expect(!KeyExport(of: .capability, as: .dovecot, config).namesKey)
        #expect(KeyExport(of: .login, as: .dovecot, config).namesKey)
    }
}
