public import AuthCore
internal import Synchronization

/// A DNS that says what a test has put there.
public final class TestResolver: DomainResolver {
    private struct Zone {
        var texts: [Domain: [String]] = [:]
        var exchangers: [Domain: [String]] = [:]
        var isDown = false
        var meanwhile: (@Sendable () async throws -> Void)?
    }

    private let zone = Mutex(Zone())

    public init() {}

    public func publish(text: String, at name: String) {
        guard let name = Domain(parsing: name) else { return }
        zone.withLock { $0.texts[name, default: []].append(text) }
    }

    public func publish(exchanger: String, of name: String) {
        guard let name = Domain(parsing: name) else { return }
        zone.withLock { $0.exchangers[name, default: []].append(exchanger) }
    }

    public func withdrawAll() { zone.withLock { $0 = Zone() } }

    /// Has `body` happen once, after the next question for texts has been answered and before the
    /// answer is used.
    public func meanwhile(_ body: @escaping @Sendable () async throws -> Void) {
        zone.withLock { $0.meanwhile = body }
    }

    public func goDown() { zone.withLock { $0.isDown = true } }

    public func texts(at name: Domain) async throws -> [String] {
        let (texts, meanwhile) = try zone.withLock { zone in
            if zone.isDown { throw DomainResolverTimeout() }
            defer { zone.meanwhile = nil }
            return (zone.texts[name] ?? [], zone.meanwhile)
        }
        try await meanwhile?()
        return texts
    }

    public func mailExchangers(of name: Domain) async throws -> [String] {
        try zone.withLock { zone in
            if zone.isDown { throw DomainResolverTimeout() }
            return zone.exchangers[name] ?? []
        }
    }
}
