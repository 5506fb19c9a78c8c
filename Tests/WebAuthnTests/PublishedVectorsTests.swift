import TestSupport
import Testing

@testable import WebAuthn

/// The test vectors of Web Authentication Level 3, and those of a program that uses it.
@Suite struct PublishedVectorsTests {
    static let site = RelyingParty(id: "example.org", origin: "https://example.org")

    /// Those with other algorithms than the three that are asked for.
    static let otherAlgorithms = ["packed-es384", "packed-es512", "packed-ed448"]
    /// Those that a frame in a page of another origin has made.
    static let inFrames = ["none-es256-crossOrigin", "none-es256-topOrigin"]

    static func records() throws -> [VectorFile.Record] {
        try VectorFile.records("webauthn-3.txt")
    }

    @Test(arguments: try records())
    func registrationAndAssertionAreVerified(record: VectorFile.Record) throws {
        let name = try record.text("name")
        guard !Self.otherAlgorithms.contains(name) else {
            #expect(throws: WebAuthnError.unacceptableKey) { try Self.credential(of: record) }
            return
        }
        guard !Self.inFrames.contains(name) else {
            #expect(throws: WebAuthnError.crossOrigin) { try Self.credential(of: record) }
            return
        }
        let credential = try Self.credential(of: record)
        #expect(credential.id == (try record.bytes("credential_id")))
        #expect(credential.signatureCount == 0)
        let assertion = try Self.assertion(of: record, by: credential)
        #expect(assertion.signatureCount == 0)
        #expect(assertion.isUserVerified == (try record.bytes("authenticator_data")[32] & 4 != 0))
    }

    @Test func everyKindOfStatementIsAmongTheVectors() throws {
        let names = try Self.records().map { try $0.text("name") }
        #expect(names.count == 15)
        for name in Self.otherAlgorithms + Self.inFrames { #expect(names.contains(name)) }
    }

    @Test(arguments: try records())
    func anotherCredentialDoesNotVerifyTheAssertion(record: VectorFile.Record) throws {
        let usable = try Self.records().filter { other in
            let name = try other.text("name")
            return !(Self.otherAlgorithms + Self.inFrames).contains(name)
        }
        for other in usable where other.fields != record.fields {
            let credential = try Self.credential(of: other)
            #expect(throws: WebAuthnError.self) {
                try Self.assertion(of: record, by: credential)
            }
        }
    }

    static func credential(of record: VectorFile.Record) throws -> RegisteredCredential {
        try RegisteredCredential(
            clientData: record.bytes("client_data"),
            attestationObject: record.bytes("attestation_object"),
            challenge: record.bytes("challenge"), at: site)
    }

    static func assertion(
        of record: VectorFile.Record, by credential: RegisteredCredential
    ) throws -> VerifiedAssertion {
        try VerifiedAssertion(
            clientData: record.bytes("assertion_client_data"),
            authenticatorData: record.bytes("authenticator_data"),
            signature: record.bytes("signature"),
            challenge: record.bytes("assertion_challenge"), by: credential.publicKey, at: site)
    }
}
