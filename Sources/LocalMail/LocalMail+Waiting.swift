extension LocalMail {
    /// Those of ``delivered(after:)`` that `isWanted` accepts: as soon as there is one, and none at
    /// the deadline.
    public func delivered(
        after number: Int, until deadline: ContinuousClock.Instant,
        where isWanted: @escaping @Sendable (DeliveredMessage) -> Bool
    ) async -> [DeliveredMessage] {
        // Begins before the first look, so that nothing can arrive unseen.
        let arrivals = deliveries.arrivals()
        let seen = delivered(after: number)
        let first = seen.filter(isWanted)
        if !first.isEmpty { return first }
        let last = seen.last?.number ?? number
        return await withTaskGroup(of: [DeliveredMessage].self) { group in
            group.addTask {
                var last = last
                for await _ in arrivals {
                    let new = self.delivered(after: last)
                    last = new.last?.number ?? last
                    let found = new.filter(isWanted)
                    if !found.isEmpty { return found }
                }
                return []
            }
            group.addTask {
                // Cancelled when there is something to return.
                try? await Task.sleep(until: deadline, clock: .continuous)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
    }

    /// Whether the text is an address as SMTP has it (RFC 5321 §4.1.2).
    public static func isAddress(_ text: String) -> Bool { SMTPPath.isAddress(text) }
}
