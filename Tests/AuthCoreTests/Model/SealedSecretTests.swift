import Testing

@testable import AuthCore

@Suite struct SealedSecretTests {
    private let bytes = [UInt8](repeating: 5, count: 16)

    @Test func itsNameSaysWhatItBelongsTo() {
        let secrets: [SealedSecret] = [
            .webhook(WebhookID(random: bytes)), .totp(UserID(random: bytes)),
        ]
        #expect(Set(secrets.map(\.name)).count == 2)
        for secret in secrets { #expect(SealedSecret(secret.name) == secret) }
        for name in ["", "webhook/", "totp/x", UserID(random: bytes).text] {
            #expect(SealedSecret(name) == nil)
        }
    }

    @Test func anotherOwnersSecretDoesNotOpen() throws {
        let sealer = try KeySealer(masterSecret: bytes + bytes) { [UInt8](repeating: 1, count: $0) }
        let owner = SealedSecret.totp(UserID(random: bytes))
        let sealed = try sealer.seal([1, 2, 3], as: owner)
        #expect(try sealer.open(sealed, as: owner) == [1, 2, 3])
        let others: [SealedSecret] = [
            .webhook(WebhookID(random: bytes)),
            .totp(UserID(random: [UInt8](repeating: 6, count: 16))),
        ]
        for other in others {
            #expect(throws: UnreadableKey.self) { try sealer.open(sealed, as: other) }
        }
    }
}
