import Testing

@testable import AuthCore
@testable import postern

/// Which files each layout has.
@Suite struct KeyExportTests {
    private let keys = ["new", "old"].map {
        PublishedKey(id: $0, modulus: "", exponent: "", pem: "PEM of \($0)")
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

    @Test(arguments: ["../a", "a/b", "", ".a", "a\nb", String(repeating: "a", count: 65)])
    func anIDThatIsNoNameOfAFileIsAnError(id: String) {
        let key = PublishedKey(id: id, modulus: "", exponent: "", pem: "PEM")
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
