import Glibc
import Testing

@testable import postern

@Suite struct DescriptorsTests {
    @Test func theSoftLimitBecomesTheHardOne() {
        let limit = Descriptors.raiseLimit()
        #expect(limit >= 1024)
        #expect(Descriptors.raiseLimit() == limit)
    }
}
