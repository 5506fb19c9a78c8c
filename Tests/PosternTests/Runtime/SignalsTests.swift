import Glibc
import Testing

@testable import postern

@Suite struct SignalsTests {
    @Test func aBrokenPipeIsAnErrorOfOneWrite() {
        let signals = StopSignals()
        let pipe = Pipe()
        pipe.abandon()
        let octet: [UInt8] = [0]
        #expect(write(pipe.writer, octet, 1) == -1)
        #expect(errno == EPIPE)
        close(pipe.writer)
        withExtendedLifetime(signals) {}
    }
}
