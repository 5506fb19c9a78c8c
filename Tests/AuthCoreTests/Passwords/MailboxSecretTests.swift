import TestSupport
import Testing

@testable import AuthCore

struct MailboxSecretTests {
    @Test(arguments: [(0, false), (5, false), (6, true), (1024, true)])
    func aNewPasswordHasAtLeastSixBytes(count: Int, isAccepted: Bool) {
        let secret = MailboxSecret.password([UInt8](repeating: 1, count: count))
        if isAccepted {
            #expect(throws: Never.self) { try secret.checkLength() }
        } else {
            #expect(throws: AccountsError.passwordTooShort) { try secret.checkLength() }
        }
    }

    @Test func anAuthKeyIsNeverTooShort() {
        let key = MailboxSecret.authKey([UInt8](repeating: 1, count: MailboxSecret.authKeyBytes))
        #expect(throws: Never.self) { try key.checkLength() }
    }

    @Test func thePasswordIsHashedForItsAddressAndTheAuthKeyAsItIs() throws {
        let address = try #require(Address(parsing: "a@mail.test"))
        #expect(
            MailboxSecret.password([1]).forHashing(at: address)
                == .mailbox(password: [1], address: address))
        #expect(MailboxSecret.authKey([2]).forHashing(at: address) == .authKey([2]))
    }

    @Test func printingASecretDoesNotShowIt() {
        for secret in [MailboxSecret.password([77, 78]), .authKey([77, 78])] {
            var dumped = ""
            dump(secret, to: &dumped)
            let prints = ["\(secret)", String(reflecting: secret), dumped, "\([secret])"]
            #expect(prints.allSatisfy { $0.contains("redacted") && !$0.contains("77") })
        }
    }
}
