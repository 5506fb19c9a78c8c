extension AccountMail {
    public func queryEmails(
        _ query: MailQuery, _ window: QueryWindow = QueryWindow()
    ) throws(MailQueryError) -> MailQueryResult {
        var run = try MessageQueryRun(query, limits: limits)
        return try answer(&run) { run, state throws(MailQueryError) in
            try run.result(window, in: state)
        }
    }

    public func emailQueryChanges(
        _ query: MailQuery, since old: String, upToID: String? = nil, limit: Int? = nil,
        calculateTotal: Bool = false
    ) throws(MailChangesError) -> MailQueryChanges {
        var run: MessageQueryRun
        do throws(MailQueryError) {
            run = try MessageQueryRun(query, limits: limits)
        } catch {
            throw .unsupportedFilter
        }
        return try answer(&run) { run, state throws(MailChangesError) in
            try run.changes(
                since: old, upToID: upToID, limit: limit, calculateTotal: calculateTotal,
                in: state)
        }
    }

    public func queryFolders(
        _ query: FolderQuery, _ window: QueryWindow = QueryWindow()
    ) throws(MailQueryError) -> MailQueryResult {
        let run = try FolderQueryRun(query, limits: limits)
        return try read { state throws(MailQueryError) in try run.result(window, in: state) }
    }

    public func folderQueryChanges(
        _ query: FolderQuery, since old: String, upToID: String? = nil, limit: Int? = nil,
        calculateTotal: Bool = false
    ) throws(MailChangesError) -> MailQueryChanges {
        let run: FolderQueryRun
        do throws(MailQueryError) {
            run = try FolderQueryRun(query, limits: limits)
        } catch {
            throw .unsupportedFilter
        }
        return try read { state throws(MailChangesError) in
            try run.changes(
                since: old, upToID: upToID, limit: limit, calculateTotal: calculateTotal,
                in: state)
        }
    }

    /// Reads messages without the lock until the query needs no more of them. Of messages that come
    /// meanwhile only the new ones are read in the next round.
    private func answer<T: Sendable, E: Error>(
        _ run: inout MessageQueryRun,
        _ result: (MessageQueryRun, borrowing AccountState) throws(E) -> T
    ) throws(E) -> T {
        while true {
            let current = run
            let step = try read { state throws(E) -> (unread: [StoredMessage], result: T?) in
                let unread = current.unread(in: state)
                return (unread, unread.isEmpty ? try result(current, state) : nil)
            }
            if let result = step.result { return result }
            run.read(step.unread, with: environment.reader)
        }
    }
}
