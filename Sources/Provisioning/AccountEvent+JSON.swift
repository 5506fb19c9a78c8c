public import AuthCore
internal import StrictJSON

extension AccountEvent {
    /// One JSON object in one line: what `postern audit follow --json` writes, and the body that
    /// the receiver gets. Programs depend on its members (docs/provisioning.md, "An event").
    public func json(_ names: MailNames) -> [UInt8] {
        JSONWriter.object(capacity: 320) { members in
            members.member("number", number)
            members.member("id", id.text)
            members.member("event", kind.rawValue)
            members.member("time", time.rfc3339)
            members.member("account_id", account.text)
            members.member("address", address.description)
            members.member("name", names.name(of: account, at: address))
            if let quota { members.member("quota", quota) }
        }
    }
}

extension Account {
    /// One JSON object in one line.
    public func json(_ names: MailNames) -> [UInt8] {
        JSONWriter.object(capacity: 320) { members in
            members.member("account_id", id.text)
            members.member("address", address.description)
            members.member("name", names.name(of: self))
            members.member("state", state.rawValue)
            members.member("login", loginKind)
            members.member("owner", owner?.text)
            members.member("quota", quota)
            members.member("used", used)
            members.member("created_at", created.rfc3339)
        }
    }

    /// The kind of credential that opens the mailbox: `api_key` or `password`.
    public var loginKind: String {
        switch credential {
        case .apiKey: "api_key"
        case .password: "password"
        }
    }
}
