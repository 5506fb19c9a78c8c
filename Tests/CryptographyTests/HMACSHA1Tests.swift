import Cryptography
import Testing

@Suite struct HMACSHA1Tests {
    /// RFC 2202, test cases 1, 2 and 6.
    @Test func agreesWithRFC2202() {
        for (key, message, mac) in [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b617318655057264e28bc0b6fb378c8ef146be00"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (
                [UInt8](repeating: 0xAA, count: 80),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
        ] {
            let found = HMACSHA1.authenticate(Array(message.utf8), key: key)
            #expect(Hex.encode(found) == mac)
        }
    }
}
