import Scheduling
import TestSupport
import Testing

@testable import AuthCore

struct CommonErrorTests {
    private struct Broken: Error {}

    @Test func aFullPoolIsBusyForAsLongAsThePoolSays() {
        let full = WorkerPool.Full(pool: "hashing", retryAfter: .seconds(3))
        #expect(CommonError(full) == .busy(retryAfter: .seconds(3)))
    }

    @Test func aBusyStoreAFullDiskAndAMissingResolverAreBusy() {
        #expect(CommonError(StoreBusy()) == .busy(retryAfter: .seconds(1)))
        #expect(CommonError(StoreFull()) == .busy(retryAfter: .seconds(10)))
        #expect(CommonError(ResolverUnavailable(cause: "x")) == .busy(retryAfter: .seconds(5)))
    }

    @Test func anExceededLimitKeepsItsStatus() {
        let status = RateLimitStatus(limit: 8, remaining: 0, secondsToReset: 1)
        let limited = RateLimited(retryAfter: .seconds(2), status: status)
        #expect(CommonError(limited) == .rateLimited(limited))
    }

    @Test func aCommonErrorStaysWhatItIs() {
        #expect(
            CommonError(CommonError.busy(retryAfter: .seconds(9))) == .busy(retryAfter: .seconds(9))
        )
        #expect(CommonError(CommonError.malformedRequest("x")) == .malformedRequest("x"))
    }

    @Test func anyOtherErrorIsAFailureAndKeepsItsCause() {
        guard case .failed(let cause) = CommonError(Broken()) else {
            Issue.record("not a failure")
            return
        }
        #expect(cause is Broken)
        guard case .failed(let cancelled) = CommonError(CancellationError()) else {
            Issue.record("not a failure")
            return
        }
        #expect(cancelled is CancellationError)
    }

    @Test func eachFlowShowsItsCommonErrorsAndNoOthers() {
        let busy = CommonError.busy(retryAfter: .seconds(1))
        #expect(AgentError.common(busy).common == busy)
        #expect(AccountsError.common(busy).common == busy)
        #expect(HashLoginError.common(busy).common == busy)
        #expect(ProofOfWorkError.common(busy).common == busy)
        #expect(AgentError.invalidSession.common == nil)
        #expect(AccountsError.forbidden.common == nil)
        #expect(HashLoginError.loginFailed.common == nil)
        #expect(ProofOfWorkError.wrongSolution.common == nil)
    }

    /// As when a challenge cannot be given back, because the database is gone by then.
    @Test func whatWasBusyInAnotherFlowIsBusy() {
        let busy = CommonError.busy(retryAfter: .seconds(3))
        #expect(CommonError(ProofOfWorkError.common(busy)) == busy)
        guard case .failed(let cause) = CommonError(ProofOfWorkError.wrongSolution) else {
            Issue.record("not a fault")
            return
        }
        #expect(cause as? ProofOfWorkError == .wrongSolution)
    }

    @Test func busyAndRateLimitedErrorsAreTemporary() {
        #expect(AgentError.common(.busy(retryAfter: .seconds(1))).isTemporary)
        #expect(!AgentError.common(.failed(Broken())).isTemporary)
        #expect(AgentError.common(.rateLimited(RateLimited(retryAfter: .seconds(1)))).isTemporary)
        #expect(!AgentError.usernameTaken.isTemporary)
    }
}
