internal import Cryptography

/// One-time codes that an app on the user's phone computes from a shared secret and the time
/// (RFC 6238), with the parameters that every app knows: SHA-1, six digits, 30 seconds.
public enum TOTP {
    /// RFC 4226 §4 requires at least 16 bytes and recommends 20.
    public static let secretBytes = 20
    static let digits = 6
    static let periodSeconds: Int64 = 30
    /// How many steps the clocks of the phone and of the server may differ, either way.
    static let window: Int64 = 1

    /// The number of the period that `instant` lies in.
    public static func step(at instant: Instant) -> Int64 {
        instant.seconds / periodSeconds
    }

    /// The code of a step (RFC 4226 §5.3).
    public static func code(for secret: [UInt8], step: Int64) -> String {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * $0)) }
        let mac = HMACSHA1.authenticate(counter, key: secret)
        let offset = Int(mac[mac.count - 1] & 0x0F)
        let number = mac[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// The earliest step of the window, after the step `last`, whose code this is.
    ///
    /// The caller stores the step as the new last one, so that no code counts twice.
    public static func step(
        of code: String, for secret: [UInt8], at now: Instant, after last: Int64
    ) -> Int64? {
        let present = step(at: now)
        let given = Array(code.utf8)
        return ((present - window)...(present + window)).first { step in
            ConstantTime.equal(Array(Self.code(for: secret, step: step).utf8), given)
                && step > last
        }
    }

    /// The secret and the parameters for the user's app (the key URI format of Google
    /// Authenticator).
    /// - Parameters:
    ///   - issuer: what the app shows beside the account: the server's host name.
    ///   - account: the user's email.
    public static func uri(of secret: [UInt8], issuer: String, account: Email) -> String {
        let issuer = percentEncoded(issuer)
        return "otpauth://totp/\(issuer):\(percentEncoded(account.text))"
            + "?secret=\(Base32.encode(secret))&issuer=\(issuer)"
            + "&algorithm=SHA1&digits=\(digits)&period=\(periodSeconds)"
    }

    /// Encodes all but the unreserved characters (RFC 3986 §2.3).
    private static func percentEncoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += "%".utf8 + Array(Hex.encode([byte]).uppercased().utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
