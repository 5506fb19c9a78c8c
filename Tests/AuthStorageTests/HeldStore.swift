import AuthCore
import TestPrimitives

@testable import AuthStorage

/// A store behind a proxy, whose connections a test can hold, so that what is sent together is
/// known.
struct HeldStore: Sendable {
    let store: PostgresStore
    let url: PostgresURL
    let proxy: CuttingProxy
    private let held = Level()
    private let latch = Latch()
    private let connections: Int

    init(connections: Int = 1) async throws {
        self.connections = connections
        url = try TestServer.shared.makeDatabase()
        proxy = try CuttingProxy(to: try TestServer.shared.socketDirectory())
        var settings = TestServer.settings
        settings.connections = connections
        settings.recoveryTimeout = .seconds(120)
        store = try await PostgresStore.open(
            try TestServer.shared.url(of: url, behind: proxy), settings: settings, at: .epoch)
    }

    /// Returns once every connection is held.
    func hold() async {
        for _ in 0..<connections {
            store.pool.begin { _ in
                held.raise()
                await latch.wait()
            }
        }
        await held.reaches(connections)
    }

    func release() {
        latch.open()
    }
}

/// Runs `body` for all numbers.
/// - Parameters:
///   - isBegun: whether so many have come to the point where they wait; the next begins then.
///   - then: called once all of them wait.
/// - Returns: the results in the order of the numbers.
func inOrder<T: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> T,
    isBegun: (Int) -> Bool, once then: () async throws -> Void
) async throws -> [T] {
    try await withThrowingTaskGroup(of: (Int, T).self) { group in
        for number in 0..<count {
            group.addTask { (number, try await body(number)) }
            while !isBegun(number + 1) { await Task.yield() }
        }
        try await then()
        return try await group.reduce(into: []) { $0.append($1) }
    }.sorted { $0.0 < $1.0 }.map(\.1)
}
