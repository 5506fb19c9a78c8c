public import AuthCore
internal import Synchronization

extension MemoryStore: AuditLog {
    public func append(_ event: AuditEvent) async throws {
        state.withLock { $0.record(event) }
    }

    public func events(after sequence: Int64?, limit: Int) async throws -> [AuditRecord] {
        state.withLock { state in
            let rest = state.events.drop { record in sequence.map { record.sequence <= $0 } ?? false
            }
            return Array(rest.prefix(max(0, limit)))
        }
    }

    public func latestEvents(limit: Int) async throws -> [AuditRecord] {
        state.withLock { Array($0.events.suffix(max(0, limit))) }
    }

    public func trim(before instant: Instant, limit: Int) async throws -> Int {
        state.withLock { state in
            // Up to the first event that stays, so that no gap comes to be inside the record.
            let count = state.events.prefix(max(0, limit)).prefix { $0.event.time < instant }.count
            state.events.removeFirst(count)
            return count
        }
    }
}

extension MemoryStore.State {
    mutating func record(_ event: AuditEvent) {
        recorded += 1
        events.append(AuditRecord(sequence: recorded, event: event))
    }

    /// - Throws: ``StorageError/unknownOwner`` when the owner is not there.
    func demand(_ owner: UserID?) throws {
        guard let owner, users[owner] == nil else { return }
        throw StorageError.unknownOwner
    }
}
