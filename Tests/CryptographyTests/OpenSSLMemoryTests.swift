import COpenSSL
import Cryptography
import Glibc
import Testing

@Suite struct OpenSSLMemoryTests {
    @Test func freedMemoryIsWiped() {
        #expect(OpenSSLMemory.isWipedWhenFreed)
    }

    /// It would free the locks of threads that still use OpenSSL.
    @Test func nothingIsCleanedUpAtTheExit() async {
        await #expect(processExitsWith: .success) {
            #expect(OPENSSL_init_crypto(0, nil) == 1)
            // Called by OPENSSL_cleanup.
            let isAdded = OPENSSL_atexit({ _exit(9) })
            #expect(isAdded == 1)
            exit(0)
        }
    }
}
