import TestSupport
import Testing

@testable import AuthCore

@Suite struct HostedDomainTests {
    private let random = SeededBytes(seed: 3)

    private func domain(_ name: String) throws -> HostedDomain? {
        HostedDomain(
            try #require(Domain(parsing: name)), of: UserID(random: random.make(16)),
            at: Instant(seconds: 1), random: random.make)
    }

    @Test func anAddedDomainIsPendingAndHasARandomVerifyToken() throws {
        let first = try #require(try domain("Example.test"))
        let second = try #require(try domain("example.test"))
        #expect(first.verification == .pending && first.verified == nil && !first.hasMX)
        #expect(first.verifyToken != second.verifyToken)
        #expect(first.verifyToken.utf8.count >= 27)
    }

    @Test func theRecordsAreATXTWithTheVerifyTokenAndAnMXWithTheExchanger() throws {
        let domain = try #require(try domain("example.test"))
        let records = domain.records(exchanger: try #require(Domain(parsing: "mx.mail.test")))
        #expect(
            records == [
                DNSRecord(
                    kind: .txt, host: "postern-verify.example.test",
                    value: "postern-verify=\(domain.verifyToken)", priority: nil),
                DNSRecord(kind: .mx, host: "example.test", value: "mx.mail.test", priority: 10),
            ])
    }

    @Test func aNameWithoutADotOrTooLongForTheHostOfItsTXTRecordIsRejected() throws {
        #expect(try domain("localhost") == nil)
        let long = [String](repeating: String(repeating: "a", count: 49), count: 5)
        #expect(try domain(long.joined(separator: ".")) == nil)
        #expect(try domain(long.dropLast().joined(separator: ".")) != nil)
    }

    @Test(arguments: ["127.0.0.1", "10.1", "256.1", "1.2.3.4", "example.0"])
    func aNameThatIsAnIPv4AddressOrEndsInANumberIsRejected(name: String) throws {
        #expect(try domain(name) == nil)
    }
}
