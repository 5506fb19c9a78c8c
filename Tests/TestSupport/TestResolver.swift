public import AuthCore
internal import Synchronization

/// A DNS that says what a test has put there.
public final class TestResolver: DomainResolver {
    private struct Zone {
        var texts: [Domain: [String]] = [:]
        var exchangers: [Domain: [String]] = [:]
        var isDown = false
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

    public func goDown() { zone.withLock { $0.isDown = true } }

    public func texts(at name: Domain) async throws -> [String] {
        try zone.withLock { zone in
            if zone.isDown { throw DomainResolverTimeout() }
            return zone.texts[name] ?? []
        }
    }

    public func mailExchangers(of name: Domain) async throws -> [String] {
        try zone.withLock { zone in
            if zone.isDown { throw DomainResolverTimeout() }
            return zone.exchangers[name] ?? []
        }
    }
}
