import Cryptography
import Testing

@testable import AuthCore

@Suite struct TOTPTests {
    /// The secret of the examples of RFC 4226 and RFC 6238.
    private let secret = Array("12345678901234567890".utf8)

    /// RFC 4226, appendix D.
    @Test func agreesWithRFC4226() {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583",
            "399871", "520489",
        ]
        for (step, code) in codes.enumerated() {
            #expect(TOTP.code(for: secret, step: Int64(step)) == code)
        }
    }

    /// RFC 6238, appendix B, SHA-1: the last six of the eight digits.
    @Test func agreesWithRFC6238() {
        for (time, code) in [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"),
            (1_234_567_890, "005924"), (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)] {
            #expect(TOTP.code(for: secret, step: TOTP.step(at: Instant(seconds: time))) == code)
        }
    }

    @Test func theWindowIsOneStepEitherWay() {
        let now = Instant(seconds: 1_000_000_019)
        let present = TOTP.step(at: now)
        for distance: Int64 in -3...3 {
            let code = TOTP.code(for: secret, step: present + distance)
            let found = TOTP.step(of: code, for: secret, at: now, after: 0)
            #expect(found == (abs(distance) <= 1 ? present + distance : nil))
        }
    }

    @Test func aCodeCountsOnceAndNoneBeforeIt() {
        let now = Instant(seconds: 1_000_000_019)
        let present = TOTP.step(at: now)
        for last in (present - 2)...(present + 2) {
            let code = TOTP.code(for: secret, step: present)
            let found = TOTP.step(of: code, for: secret, at: now, after: last)
            #expect(found == (last < present ? present : nil))
        }
    }

    @Test func whatIsNotSixDigitsIsNoCode() {
        let now = Instant(seconds: 59)
        for text in ["", "28708", "2870820", " 287082", "287082 ", "２８７０８２", "+87082", "28708a"] {
            #expect(TOTP.step(of: text, for: secret, at: now, after: 0) == nil)
        }
        #expect(TOTP.step(of: "287082", for: secret, at: now, after: 0) == 1)
    }

    @Test func theURIHasWhatAppsRead() throws {
        let email = try #require(Email(parsing: "o'neil+x@mail.test"))
        let uri = TOTP.uri(of: secret, issuer: "mail.example", account: email)
        #expect(
            uri == "otpauth://totp/mail.example:o%27neil%2Bx%40mail.test"
                + "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=mail.example"
                + "&algorithm=SHA1&digits=6&period=30")
    }

    @Test func theFirstAndLastInstantsDoNotTrap() {
        for instant in [Instant(milliseconds: .min), Instant(milliseconds: .max)] {
            #expect(TOTP.step(of: "000000", for: secret, at: instant, after: .max) == nil)
        }
    }
}
