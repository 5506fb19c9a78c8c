import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import AuthCore

/// The signatures of capabilities: by which algorithm.
struct CapabilitySignatureTests {
    private let capability: CapabilityToken

    init() throws {
        let account = Account(
            id: AccountID(random: [UInt8](repeating: 1, count: 16)),
            address: try #require(Address(parsing: "agent@mail.test")),
            credential: .apiKey(APIKeyDigest(bytes: [UInt8](repeating: 2, count: 32))), quota: 1,
            created: Instant(seconds: 1))
        capability = CapabilityToken(id: "id", subject: "me", account: account)
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func aCapabilityIsSignedByTheAlgorithmOfItsKey(algorithm: SignatureAlgorithm) async throws {
        let world = try AgentWorld(capabilityAlgorithm: algorithm)
        let now = world.clock.now
        for token in [
            try await world.tokens.sign(capability, at: now),
            try await world.tokens.sign(MinimalCapabilityToken(subject: "me"), at: now),
        ] {
            let compact = try #require(CompactToken(token))
            #expect(compact.header.string("alg") == algorithm.rawValue)
            let key = try PublicKey(
                pem: try #require(await world.keys.publishedSigner(.capability, at: now)).pem)
            #expect(key.isValid(compact.signature, for: compact.signedBytes))
            let isFull = compact.header.string("kid") != nil
            #expect(
                try await world.tokens.read(token, as: CapabilityToken.self, at: now)?.token
                    == (isFull ? capability : nil))
            #expect(
                try await world.tokens.read(token, as: MinimalCapabilityToken.self, at: now)?
                    .token.subject == (isFull ? nil : "me"))
            // The same bytes under another name of an algorithm, which is that of no key here.
            for other in SignatureAlgorithm.allCases where other != algorithm {
                let parts = token.split(separator: ".")
                let header = try edited(String(parts[0]), algorithm.rawValue, other.rawValue)
                let forged = "\(header).\(parts[1]).\(parts[2])"
                #expect(
                    try await world.tokens.read(forged, as: CapabilityToken.self, at: now) == nil)
                #expect(
                    try await world.tokens.read(forged, as: MinimalCapabilityToken.self, at: now)
                        == nil)
            }
        }
    }

    /// With and without a key id: then both keys are tried.
    @Test func whileTheAlgorithmChangesTokensOfBothKeysAreValid() async throws {
        for keyID in [true, false] {
            let before = try AgentWorld(capabilityKeyID: keyID)
            let now = before.clock.now
            let old = try await before.tokens.sign(
                capability, lifetime: .seconds(9999), at: now)
            let after = try AgentWorld(
                stores: before.stores, capabilityKeyID: keyID, capabilityAlgorithm: .es256)
            _ = try #require(try await after.keys.changeAlgorithm(grace: .seconds(600)))
            after.clock.advance(by: KeyUse.capability.publicationLead)
            let later = after.clock.now
            let new = try await after.tokens.sign(capability, at: later)
            #expect(CompactToken(new)?.header.string("alg") == "ES256")
            for token in [old, new] {
                #expect(
                    try await after.tokens.verify(token, as: CapabilityToken.self, at: later)?
                        .token == capability)
            }
        }
    }

    /// A key of another use that its row is moved to, or of a later program.
    @Test func aLoginKeyIsForRS256Only() throws {
        for algorithm in SignatureAlgorithm.allCases where algorithm != .rs256 {
            let bytes = try PrivateKey.generate(algorithm).pkcs8DER
            #expect(throws: CryptographyError.malformedKey) {
                try SigningKey(id: "a", use: .login, bytes: bytes)
            }
            _ = try SigningKey(id: "a", use: .capability, bytes: bytes)
        }
    }

    /// The header with the name of another algorithm.
    private func edited(_ part: String, _ old: String, _ new: String) throws -> String {
        let bytes = try #require(Base64URL.decode(Array(part.utf8)))
        let json = String(decoding: bytes, as: UTF8.self)
        #expect(json.contains(old))
        return Base64URL.encode(Array(json.replacing(old, with: new).utf8))
    }
}

extension TokenAuthority {
    fileprivate func sign(
        _ token: some TokenKind, lifetime: Duration = .seconds(120), at now: Instant
    ) async throws -> String {
        let caller = Caller(
            address: AgentWorld.client, requestID: "test-1", now: now, arrival: .now)
        return try await sign(token, lifetime: lifetime, for: caller)
    }
}
