extension AccountMail {
    /// Mailbox/set: creations, then updates, then destructions. Each is done or fails on its own,
    /// and nothing else happens in between.
    public func setFolders(
        _ set: FolderSet
    ) throws(MailStateMismatch) -> MailSetResult<MailFolder, FolderSetError> {
        try write { state throws(MailStateMismatch) in
            let old = state.states[.mailbox]
            if let expected = set.ifInState, expected != old { throw MailStateMismatch() }
            var run = FolderSetRun(oldState: old)
            run.create(set.create, in: &state)
            let destroyed = Set(set.destroy.compactMap(run.number))
            for (id, patch) in set.update {
                run.update(id, patch, destroyed: destroyed, in: &state)
            }
            for id in set.destroy {
                run.destroy(id, removesEmails: set.removesEmails, in: &state)
            }
            run.result.newState = state.states[.mailbox]
            return run.result
        }
    }
}

/// One Mailbox/set.
private struct FolderSetRun {
    var result: MailSetResult<MailFolder, FolderSetError>
    private var created: [String: UInt64] = [:]

    init(oldState: String) {
        result = MailSetResult(oldState: oldState)
    }

    func number(_ id: String) -> UInt64? {
        if id.utf8.first == UInt8(ascii: "#") { return created[String(id.dropFirst())] }
        return MailID.number(.folder, id)
    }

    /// A creation may name one that comes after it, so all are tried until none succeeds any more.
    mutating func create(
        _ drafts: [(creationID: String, draft: FolderDraft)], in state: inout AccountState
    ) {
        var results: [Result<MailFolder, FolderSetError>?] = Array(
            repeating: nil, count: drafts.count)
        var hasProgress = true
        while hasProgress {
            hasProgress = false
            for (index, (creationID, draft)) in drafts.enumerated() where results[index] == nil {
                guard let parent = parent(draft.parentID) else { continue }
                hasProgress = true
                do throws(FolderSetError) {
                    let number = try state.insertFolder(draft, parent: parent)
                    created[creationID] = number
                    guard let folder = state.folders[number] else { throw .forbidden }
                    results[index] = .success(MailFolder(folder))
                } catch {
                    results[index] = .failure(error)
                }
            }
        }
        for ((creationID, _), outcome) in zip(drafts, results) {
            result.created.append(
                (creationID, outcome ?? .failure(.invalidProperties(["parentId"]))))
        }
    }

    mutating func update(
        _ id: String, _ patch: FolderPatch, destroyed: Set<UInt64>, in state: inout AccountState
    ) {
        let outcome = Result { () throws(FolderSetError) in
            guard let number = number(id) else { throw .notFound }
            if destroyed.contains(number) { throw .willDestroy }
            var above: UInt64??
            switch patch.parent {
            case nil: break
            case .top?: above = .some(nil)
            case .folder(let id)?:
                guard let number = self.number(id) else { throw .invalidProperties(["parentId"]) }
                above = number
            }
            try state.updateFolder(number, patch, parent: above)
        }
        result.updated.append((id, outcome))
    }

    mutating func destroy(_ id: String, removesEmails: Bool, in state: inout AccountState) {
        let outcome = Result { () throws(FolderSetError) in
            guard let number = number(id) else { throw .notFound }
            try state.removeFolder(number, removesEmails: removesEmails)
        }
        result.destroyed.append((id, outcome))
    }

    /// - Returns: `nil` where the id means nothing, or nothing yet.
    private func parent(_ id: String?) -> UInt64?? {
        guard let id else { return .some(nil) }
        return number(id).map { .some($0) }
    }
}
