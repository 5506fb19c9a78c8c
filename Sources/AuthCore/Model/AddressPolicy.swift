/// Which mailbox names may be created: the operator's domains, reserved names and delimiter.
public struct AddressPolicy: Sendable {
    /// RFC 2142's role names, names that mail systems or people impersonating them use, and names
    /// that have a meaning in mail stores, such as Cyrus IMAP's `anyone`.
    public static let defaultReserved: Set<String> = [
        // RFC 2142 sections 3 to 7.
        "info", "marketing", "sales", "support", "abuse", "noc", "security", "postmaster",
        "hostmaster", "usenet", "news", "webmaster", "www", "uucp", "ftp",
        "admin", "administrator", "root", "noreply", "no-reply", "mailer-daemon",
        "cyrus", "anyone", "anonymous", "dovecot", "vmail", "nobody",
    ]

    /// The configured domains. Agents get their mailboxes on the first one.
    public let domains: [Domain]
    public let reserved: Set<String>
    public let subaddressDelimiter: Character?

    /// - Parameter domains: at least one.
    public init(
        domains: [Domain], reserved: Set<String> = defaultReserved,
        subaddressDelimiter: Character? = "+"
    ) {
        precondition(!domains.isEmpty)
        self.domains = domains
        self.reserved = reserved
        self.subaddressDelimiter = subaddressDelimiter
    }

    /// The domain that agents get their mailboxes on.
    public var agentDomain: Domain { domains[0] }

    /// - Throws: ``AgentError/usernameNotAllowed`` for a reserved name,
    ///   ``AgentError/invalidUsername(_:)`` for one that contains the sub-address delimiter.
    public func address(for username: Username) throws(AgentError) -> Address {
        if let subaddressDelimiter, hasDelimiter(username.localPart) {
            throw .invalidUsername("it must not contain `\(subaddressDelimiter)`")
        }
        guard !reserved.contains(username.localPart.text) else { throw .usernameNotAllowed }
        return Address(localPart: username.localPart, domain: agentDomain)
    }

    /// The mailbox of a sub-address: `demo@…` for `demo+tag@…`. The tag may have bytes that no
    /// mailbox name has, because the sender of a message chooses it.
    /// - Returns: `nil` for text that is not a sub-address.
    func mailbox(ofSubaddress text: String) -> Address? {
        guard let delimiter = subaddressDelimiter?.asciiValue,
            let at = text.utf8.firstIndex(of: UInt8(ascii: "@")),
            let end = text.utf8[..<at].firstIndex(of: delimiter)
        else { return nil }
        return Address(parsing: "\(text[..<end])\(text[at...])")
    }

    /// Whether a new mailbox may have this local part: it contains neither the sub-address
    /// delimiter nor a `+`, even if that is not the delimiter.
    func allowsNewName(_ name: LocalPart) -> Bool {
        !hasDelimiter(name) && !name.text.utf8.contains(UInt8(ascii: "+"))
    }

    /// Whether only the operator may assign a local part. A sub-address of a reserved name counts
    /// as that name.
    func isReserved(_ localPart: String) -> Bool {
        let name = localPart.split(
            separator: subaddressDelimiter ?? "+", maxSplits: 1, omittingEmptySubsequences: false)
        return reserved.contains(localPart)
            || name.first.map { reserved.contains(String($0)) } ?? false
    }

    private func hasDelimiter(_ name: LocalPart) -> Bool {
        subaddressDelimiter.map(name.text.contains) ?? false
    }
}

/// The name that an agent signs up with: a valid local part of 5 to 21 characters, without `+`.
public struct Username: Hashable, Sendable, CustomStringConvertible {
    public static let lengths = 5...21
    public let localPart: LocalPart

    public init(parsing text: String) throws(AgentError) {
        guard let normal = Normal(text) else {
            throw .invalidUsername("only ASCII letters, digits, `.`, `_` and `-` are accepted")
        }
        guard Self.lengths.contains(normal.text.utf8.count) else {
            throw .invalidUsername("it must have 5 to 21 characters")
        }
        guard let localPart = LocalPart(parsing: normal.text),
            !localPart.text.utf8.contains(UInt8(ascii: "+"))
        else {
            throw .invalidUsername(
                "only letters, digits, `.`, `_` and `-` are accepted, and no dot first, last or "
                    + "doubled")
        }
        self.localPart = localPart
    }

    public var description: String { localPart.text }
}
