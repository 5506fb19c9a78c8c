import COpenSSL
import TestSupport
import Testing

@testable import Cryptography

@Suite struct CryptographyErrorTests {
    @Test func failuresLeaveNothingInTheThreadsErrorQueue() throws {
        let foreign = try VectorFile.records("refused-keys.txt")[1].bytes("pkcs8")
        let key = try PrivateKey.generate(.rs256).publicKey
        let es256 = try PrivateKey.generate(.es256).publicKey
        let cipher = try AES256GCM(key: [UInt8](repeating: 0, count: 32))
        ERR_clear_error()

        _ = try? PublicKey(pem: "x")
        #expect(ERR_peek_error() == 0)
        _ = try? PrivateKey(pkcs8DER: [0x30])
        #expect(ERR_peek_error() == 0)
        _ = try? PrivateKey(pkcs8DER: foreign)
        #expect(ERR_peek_error() == 0)
        _ = try? PublicKey(modulus: [1], exponent: [3])
        #expect(ERR_peek_error() == 0)
        _ = key.isValid([UInt8](repeating: 0xFF, count: 256), for: [])
        #expect(ERR_peek_error() == 0)
        for count in [0, 64] {
            _ = es256.isValid([UInt8](repeating: 0xFF, count: count), for: [])
            #expect(ERR_peek_error() == 0)
        }
        _ = try? cipher.open([UInt8](repeating: 0, count: 40), binding: [])
        #expect(ERR_peek_error() == 0)
    }

    @Test func aLibraryFailureNamesTheOperationAndEmptiesTheQueue() {
        ERR_clear_error()
        _ = EVP_MD_fetch(nil, "no such digest", nil)
        guard case .libraryFailure("a test", let code) = ErrorQueue.drain(after: "a test") else {
            Issue.record("not a library failure")
            return
        }
        #expect(code != 0)
        #expect(ERR_peek_error() == 0)
    }
}
