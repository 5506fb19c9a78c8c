public import AuthCore
internal import Synchronization

extension MemoryStore: HashLoginStore {
    public func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool {
        state.withLock { state in
            guard state.hashLogins[login.email] == nil else { return false }
            state.hashLogins[login.email] = login
            state.record(event)
            return true
        }
    }

    public func hashLogin(email: Email) async throws -> HashLogin? {
        state.withLock { $0.hashLogins[email] }
    }

    public func endLogins(
        of email: Email, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard let login = state.hashLogins[email],
                version.map({ $0 == login.credentialVersion }) ?? true
            else { return false }
            state.hashLogins[email]?.credentialVersion += 1
            state.record(event)
            return true
        }
    }
}
