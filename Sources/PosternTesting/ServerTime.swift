internal import AuthCore
public import FoundationEssentials
internal import postern

/// The clock of a server. It goes on from the time that it is set to.
///
/// Tokens, limits and waits after failed logins follow it. Deadlines of connections do not.
public struct ServerTime: Sendable {
    private let server: EmbeddedServer

    init(_ server: EmbeddedServer) {
        self.server = server
    }

    public var now: Date { Date(server.fixtures.now) }

    /// Sets the server's time. After a step forward it has done what has become due, such as the
    /// rotation of keys.
    /// - Parameter time: in the years 1970 to 9999.
    public func set(to time: Date) async throws {
        let seconds = time.timeIntervalSince1970
        let bounds = AdjustableClock.times
        guard seconds >= Double(bounds.lowerBound.seconds),
            seconds <= Double(bounds.upperBound.seconds)
        else { throw PosternError("the time is not in the years 1970 to 9999") }
        try await set(to: Instant(milliseconds: Int64(seconds * 1000)))
    }

    /// Moves the server's time on, or back.
    public func advance(by duration: Duration) async throws {
        try await set(to: server.fixtures.now.advanced(by: duration))
    }

    private func set(to time: Instant) async throws {
        guard AdjustableClock.times.contains(time) else {
            throw PosternError("the time is not in the years 1970 to 9999")
        }
        do {
            try await server.fixtures.set(to: time)
        } catch {
            throw PosternError(error)
        }
    }
}

extension Date {
    init(_ instant: Instant) {
        self.init(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
    }
}
