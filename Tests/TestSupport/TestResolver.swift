public import AuthCore
public import Networking
internal import Synchronization

/// A DNS with the records that a test has published.
public final class TestResolver: DomainResolver {
    private struct Zone {
        var texts: [Domain: [String]] = [:]
        var exchangers: [Domain: [String]] = [:]
        var isSilent = false
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

    /// Runs `body` once: after the next look-up of texts, and before its result is used.
    public func meanwhile(_ body: @escaping @Sendable () async throws -> Void) {
        zone.withLock { $0.meanwhile = body }
    }

    public func stopAnswering() { zone.withLock { $0.isSilent = true } }

    public func answerAgain() { zone.withLock { $0.isSilent = false } }

    public func texts(at name: Domain, for client: IPAddress?) async throws -> [String] {
        let (texts, meanwhile) = try zone.withLock { zone in
            if zone.isSilent { throw ResolverUnavailable(cause: "the test stopped it") }
            defer { zone.meanwhile = nil }
            return (zone.texts[name] ?? [], zone.meanwhile)
        }
        try await meanwhile?()
        return texts
    }

    public func mailExchangers(of name: Domain, for client: IPAddress?) async throws -> [String] {
        try zone.withLock { zone in
            if zone.isSilent { throw ResolverUnavailable(cause: "the test stopped it") }
            return zone.exchangers[name] ?? []
        }
    }
}
