import Cryptography
import TestPrimitives
import TestSupport
import Testing

@testable import WebAuthn

/// Registrations and assertions that differ from a valid one in one point.
@Suite struct CeremonyTests {
    private let site = RelyingParty(id: "example.org", origin: "https://example.org")
    private let challenge = [UInt8](repeating: 7, count: 32)

    private func register(
        _ authenticator: SoftAuthenticator
    ) throws(WebAuthnError) -> RegisteredCredential {
        let (clientData, object) = authenticator.registration(challenge)
        return try RegisteredCredential(
            clientData: clientData, attestationObject: object, challenge: challenge, at: site)
    }

    private func use(
        _ authenticator: SoftAuthenticator, key: PublicKey? = nil
    ) throws -> VerifiedAssertion {
        let made = try authenticator.assertion(challenge)
        return try VerifiedAssertion(
            clientData: made.clientData, authenticatorData: made.authenticatorData,
            signature: made.signature, challenge: challenge,
            by: key ?? authenticator.key.publicKey, at: site)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func everyAlgorithmIsVerified(algorithm: SignatureAlgorithm) throws {
        var authenticator = try SoftAuthenticator(algorithm)
        authenticator.count = 41
        let credential = try register(authenticator)
        #expect(credential.id == authenticator.id)
        #expect(credential.publicKey.parameters == authenticator.key.publicKey.parameters)
        #expect(credential.signatureCount == 41)
        #expect(credential.isUserVerified && !credential.isBackupEligible)
        authenticator.count = 42
        // The key as a store keeps it.
        let key = try PublicKey(pem: credential.publicKey.pem)
        let assertion = try use(authenticator, key: key)
        #expect(assertion.signatureCount == 42 && assertion.isUserVerified)
        let other = try SoftAuthenticator(algorithm)
        #expect(throws: WebAuthnError.wrongSignature) { try use(other, key: key) }
    }

    typealias Change = @Sendable (inout SoftAuthenticator) -> Void

    /// Changes that both ceremonies refuse.
    private static let refused: [(WebAuthnError, Change)] = [
        (.wrongType, { $0.type = "webauthn.other" }),
        (.wrongOrigin, { $0.origin = "https://example.org:8443" }),
        (.wrongOrigin, { $0.origin = "http://example.org" }),
        (.wrongOrigin, { $0.origin = "https://login.example.org" }),
        (.wrongOrigin, { $0.origin = "https://EXAMPLE.org" }),
        (.wrongRelyingParty, { $0.site = "example.com" }),
        (.userAbsent, { $0.flags = SoftAuthenticator.userVerified }),
        (.crossOrigin, { $0.otherMembers = #","crossOrigin":true"# }),
        (.crossOrigin, { $0.otherMembers = #","topOrigin":"https://example.org""# }),
        (.malformed("client data"), { $0.otherMembers = #","crossOrigin":"no""# }),
        (.malformed("client data"), { $0.otherMembers = #","origin":"https://example.org""# }),
        (
            .malformed("client data"),
            { $0.otherMembers = #","more":"\#(String(repeating: "x", count: 4_000))""# }
        ),
        // Backed up, and not eligible for that.
        (.malformed("authenticator data"), { $0.flags |= 1 << 4 }),
        // Extensions announced, and none there.
        (.malformed("authenticator data"), { $0.flags |= 1 << 7 }),
    ]

    @Test func whatABrowserOrAnAuthenticatorMustNotSendIsRefused() throws {
        for (error, change) in Self.refused {
            var authenticator = try SoftAuthenticator()
            change(&authenticator)
            #expect(throws: error) { try register(authenticator) }
            #expect(throws: error) { try use(authenticator) }
        }
    }

    @Test func oneCeremonyIsNotTheOther() throws {
        var authenticator = try SoftAuthenticator()
        authenticator.type = "webauthn.get"
        #expect(throws: WebAuthnError.wrongType) { try register(authenticator) }
        authenticator.type = "webauthn.create"
        #expect(throws: WebAuthnError.wrongType) { try use(authenticator) }
    }

    @Test func membersThatAreNotKnownAreIgnored() throws {
        var authenticator = try SoftAuthenticator()
        authenticator.otherMembers = #","crossOrigin":false,"other":{"a":[1.5]}"#
        _ = try register(authenticator)
        _ = try use(authenticator)
    }

    @Test func anotherChallengeIsRefused() throws {
        let (clientData, object) = try SoftAuthenticator().registration(challenge + [0])
        #expect(throws: WebAuthnError.wrongChallenge) {
            try RegisteredCredential(
                clientData: clientData, attestationObject: object, challenge: challenge, at: site)
        }
    }

    @Test func theUserNeedNotBeVerified() throws {
        var authenticator = try SoftAuthenticator()
        authenticator.flags = SoftAuthenticator.userPresent
        #expect(try !register(authenticator).isUserVerified)
        #expect(try !use(authenticator).isUserVerified)
    }

    @Test func aSelfAttestationMustBeByTheCredential() throws {
        for algorithm in SignatureAlgorithm.allCases {
            var authenticator = try SoftAuthenticator(algorithm)
            authenticator.format = "packed"
            let (clientData, _) = authenticator.registration(challenge)
            let signature = try authenticator.sign(
                authenticator.registrationData + SHA256.digest(clientData))
            let number = [.es256: -7, .edDSA: -8, .rs256: -257][algorithm] ?? 0
            func statement(
                _ number: Int, _ signature: [UInt8], more: [(key: [UInt8], value: [UInt8])] = []
            ) -> [UInt8] {
                CBOR.map(
                    [
                        (CBOR.text("alg"), CBOR.integer(number)),
                        (CBOR.text("sig"), CBOR.bytes(signature)),
                    ] + more)
            }
            authenticator.statement = statement(number, signature)
            _ = try register(authenticator)
            for wrong in [-7, -8, -257, -37] where wrong != number {
                authenticator.statement = statement(wrong, signature)
                #expect(throws: WebAuthnError.wrongSignature) { try register(authenticator) }
            }
            authenticator.statement = statement(number, signature.dropLast() + [0])
            #expect(throws: WebAuthnError.self) { try register(authenticator) }
            authenticator.statement = statement(
                number, signature, more: [(CBOR.text("more"), CBOR.integer(1))])
            #expect(throws: WebAuthnError.malformed("attestation statement")) {
                try register(authenticator)
            }
        }
    }

    @Test func theStatementNoneIsEmpty() throws {
        var authenticator = try SoftAuthenticator()
        authenticator.statement = CBOR.map([(CBOR.text("alg"), CBOR.integer(-8))])
        #expect(throws: WebAuthnError.malformed("attestation object")) {
            try register(authenticator)
        }
        // A statement that nobody asked for is not read.
        authenticator.format = "android-safetynet"
        _ = try register(authenticator)
    }

    @Test func credentialIDsHaveALimit() throws {
        var authenticator = try SoftAuthenticator(id: [UInt8](repeating: 1, count: 1_023))
        _ = try register(authenticator)
        for count in [0, 1_024] {
            authenticator.id = [UInt8](repeating: 1, count: count)
            #expect(throws: WebAuthnError.self) { try register(authenticator) }
        }
    }

    /// Each is valid but for its length.
    @Test func whatIsTooLongIsRefused() throws {
        var authenticator = try SoftAuthenticator()
        func padding(_ count: Int) -> [UInt8] {
            CBOR.map([(CBOR.text("x5c"), CBOR.bytes([UInt8](repeating: 0, count: count)))])
        }
        authenticator.format = "packed"
        authenticator.statement = padding(32_000)
        _ = try register(authenticator)
        authenticator.statement = padding(32_768)
        #expect(throws: WebAuthnError.malformed("attestation object")) {
            try register(authenticator)
        }
        let made = try authenticator.assertion(challenge)
        var data = made.authenticatorData
        data[32] |= 1 << 7
        _ = try AuthenticatorData(data + padding(8_000))
        #expect(throws: WebAuthnError.malformed("authenticator data")) {
            try AuthenticatorData(data + padding(8_192))
        }
        #expect(throws: WebAuthnError.malformed("signature")) {
            try VerifiedAssertion(
                clientData: made.clientData, authenticatorData: made.authenticatorData,
                signature: [UInt8](repeating: 0, count: 1_025), challenge: challenge,
                by: authenticator.key.publicKey, at: site)
        }
    }

    @Test func extensionsAreSkipped() throws {
        let authenticator = try SoftAuthenticator()
        var data = try authenticator.assertion(challenge).authenticatorData
        data[32] |= 1 << 7
        data += CBOR.map([(CBOR.text("credProtect"), CBOR.integer(2))])
        #expect(try AuthenticatorData(data).flags.contains(.hasExtensions))
        #expect(throws: WebAuthnError.self) { try AuthenticatorData(data + [0]) }
    }

    /// Every bit that is changed makes the assertion invalid; other changes never trap.
    @Test(arguments: SignatureAlgorithm.allCases)
    func changedBytesAreRefused(algorithm: SignatureAlgorithm) throws {
        let authenticator = try SoftAuthenticator(algorithm)
        let made = try authenticator.assertion(challenge)
        let all = [made.clientData, made.authenticatorData, made.signature]
        var generator = SeededGenerator(seed: 8949)
        for round in 0..<3_000 {
            var parts = all
            let part = round % 3
            let place = Int.random(in: 0..<parts[part].count, using: &generator)
            if round % 2 == 0 {
                parts[part][place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            } else {
                parts[part].removeSubrange(place...)
            }
            #expect(throws: WebAuthnError.self) {
                try VerifiedAssertion(
                    clientData: parts[0], authenticatorData: parts[1], signature: parts[2],
                    challenge: challenge, by: authenticator.key.publicKey, at: site)
            }
        }
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func changedRegistrationsNeverTrap(algorithm: SignatureAlgorithm) throws {
        let (clientData, object) = try SoftAuthenticator(algorithm).registration(challenge)
        var generator = SeededGenerator(seed: 9052)
        var refusals = 0
        for _ in 0..<5_000 {
            var changed = object
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<changed.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: changed[place] = .random(in: 0...255, using: &generator)
                case 1: changed.insert(.random(in: 0...255, using: &generator), at: place)
                default: changed.remove(at: place)
                }
            }
            do throws(WebAuthnError) {
                _ = try RegisteredCredential(
                    clientData: clientData, attestationObject: changed, challenge: challenge,
                    at: site)
            } catch { refusals += 1 }
        }
        #expect(refusals > 2_000)
    }
}
