import Cryptography
import TestSupport
import Testing

@testable import AuthCore

struct PasswordSecretTests {
    @Test func aMailboxPasswordGivesTheDocumentedAuthKey() throws {
        let address = try #require(Address(parsing: " Alice@Mail.TD "))
        let secret = PasswordSecret.mailbox(password: Array("password123".utf8), address: address)
        #expect(
            Hex.encode(try secret.credential(.best))
                == "2d0b5b1cd63138ba6e5b13777000e55b5dcd8ab4286f16d2fdd3aae8948c6bcf")
    }

    @Test(arguments: [[], [0], [UInt8](repeating: 1, count: 1025)])
    func emptyAndLongSecretsAndNULBytesAreAccepted(password: [UInt8]) throws {
        let address = try #require(Address(parsing: "a@mail.test"))
        let key = try PasswordSecret.mailbox(password: password, address: address).credential(.best)
        #expect(key.count == 32)
        #expect(try PasswordSecret.bytes(password).credential(.best) == password)
    }

    @Test func printingASecretDoesNotShowIt() throws {
        let address = try #require(Address(parsing: "a@mail.test"))
        for secret in [
            PasswordSecret.bytes([77, 78]), .authKey([77, 78]),
            .mailbox(password: [77, 78], address: address),
        ] {
            var dumped = ""
            dump(secret, to: &dumped)
            let prints = ["\(secret)", String(reflecting: secret), dumped, "\([secret])"]
            #expect(prints.allSatisfy { $0.contains("redacted") && !$0.contains("77") })
        }
    }
}
