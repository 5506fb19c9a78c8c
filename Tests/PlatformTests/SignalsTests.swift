import Glibc
import TestPrimitives
import Testing

@testable import Platform

@Suite struct SignalsTests {
    @Test func aBrokenPipeIsAnErrorOfOneWrite() {
        let signals = StopSignals()
        let pipe = Pipe()
        pipe.abandon()
        let byte: [UInt8] = [0]
        #expect(write(pipe.writer, byte, 1) == -1)
        #expect(errno == EPIPE)
        close(pipe.writer)
        withExtendedLifetime(signals) {}
    }

    @Test(arguments: 0..<5)
    func aSignalRightAfterInitIsKept(attempt: Int) async {
        await #expect(processExitsWith: .exitCode(7)) {
            // A lost signal would be waited for without end.
            alarm(120)
            let signals = StopSignals()
            kill(getpid(), SIGTERM)
            exit(await signals.wait() == SIGTERM ? 7 : 1)
        }
    }

    @Test func aHangupIsKeptLikeOtherSignals() async {
        await #expect(processExitsWith: .exitCode(7)) {
            alarm(120)
            let signals = StopSignals()
            kill(getpid(), SIGHUP)
            exit(await signals.wait() == SIGHUP ? 7 : 1)
        }
    }

    /// This process is not on a terminal that was closed.
    @Test func aHangupThatAProcessSendsReloadsAServer() async {
        await #expect(processExitsWith: .exitCode(7)) {
            alarm(120)
            let signals = StopSignals(reloads: true)
            for _ in 0..<100 { kill(getpid(), SIGHUP) }
            kill(getpid(), SIGTERM)
            guard await signals.wait() == SIGTERM else { exit(1) }
            // Those that came before the other signal are one: a second would end the process.
            var reloads = signals.reloads.makeAsyncIterator()
            await reloads.next()
            kill(getpid(), SIGHUP)
            await reloads.next()
            exit(7)
        }
    }

    @Test func anIgnoredHangupStaysIgnored() async {
        await #expect(processExitsWith: .exitCode(7)) {
            alarm(120)
            signal(SIGHUP, SIG_IGN)
            let signals = StopSignals()
            kill(getpid(), SIGHUP)
            kill(getpid(), SIGTERM)
            exit(await signals.wait() == SIGTERM ? 7 : 1)
        }
    }

    @Test func signalsHaveNamesForTheLog() {
        #expect(
            [SIGTERM, SIGINT, SIGHUP].map(StopSignals.name) == ["SIGTERM", "SIGINT", "SIGHUP"])
    }

    @Test func theSecondSignalEndsTheProcess() async {
        await #expect(processExitsWith: .exitCode(128 + SIGINT)) {
            alarm(120)
            let signals = StopSignals()
            kill(getpid(), SIGTERM)
            let first = await signals.wait()
            kill(getpid(), SIGINT)
            while first == SIGTERM { try await Task.sleep(for: .seconds(1)) }
        }
    }

    @Test func beforeInitASignalHasItsDefaultAction() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            kill(getpid(), SIGTERM)
            alarm(120)
            try await Task.sleep(for: .seconds(60))
        }
    }
}
