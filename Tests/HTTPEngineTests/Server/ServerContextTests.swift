import Testing

@testable import HTTPEngine

@Suite struct ServerContextTests {
    @Test func theTickFitsTheShortestDeadline() {
        func tick(_ adjust: (inout ServerConfiguration) -> Void) -> Int64 {
            var configuration = ServerConfiguration()
            adjust(&configuration)
            return ServerContext(configuration: configuration, hooks: ServerHooks())
                .tick.nanoseconds
        }
        #expect(tick { $0.idleDeadline = .milliseconds(80) } == 10_000_000)
        #expect(tick { $0.headDeadline = .zero } == 5_000_000)
        #expect(tick { $0.lingerDeadline = .seconds(99) } == 250_000_000)
    }
}
