import Testing

@testable import AuthCore

@Suite struct RecoveryCodeTests {
    private let code = RecoveryCode(random: Array(0..<15))

    @Test func aCodeHasFourGroupsOfSix() {
        #expect(code.secret == "aaaqea-yeauda-ocajbi-fqydio")
        #expect("\(code)" == "<redacted>")
    }

    @Test func itIsTakenHoweverItIsTyped() {
        let digest = code.digest
        for text in [
            code.secret, code.secret.uppercased(), code.secret.filter { $0 != "-" },
            " " + code.secret.split(separator: "-").joined(separator: " ") + " ",
        ] { #expect(RecoveryCode.digest(ofTyped: text) == digest) }
        #expect(RecoveryCode(random: Array(1..<16)).digest != digest)
    }

    @Test func whatCannotBeACodeIsRefused() {
        for text in [
            "", "123456", String(code.secret.dropLast()), code.secret + "a",
            "0" + code.secret.dropFirst(), "ａ" + code.secret.dropFirst(),
            String(repeating: "a", count: 65),
        ] { #expect(RecoveryCode.digest(ofTyped: text) == nil) }
    }
}
