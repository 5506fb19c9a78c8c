public import AuthAPI
public import AuthCore
internal import LocalMail
internal import Networking

/// `[mail]`: the addresses that mailboxes can have, and the mail store behind them.
public struct MailSection: Sendable {
    /// The domains of new mailboxes; agents use the first one.
    public var domains = Domain(parsing: "mail.test").map { [$0] } ?? []
    /// The character before the tag of a sub-address (`name+tag`). New names must not contain it.
    public var subaddressDelimiter = SubaddressDelimiter(character: "+")
    /// Local parts that only the operator may assign.
    public var reservedLocalParts = AddressPolicy.defaultReserved.sorted()
    /// The host that the MX records of users' domains must name.
    var exchanger: Domain?

    /// Where the mail of accounts is.
    public enum Store: String, CaseIterable, Sendable {
        /// In the memory of this process.
        case local
        /// At the JMAP server of ``jmapURL``.
        case jmap
        case none
    }

    /// `local` by default, `jmap` if there is a ``jmapURL``; `none` by default in the production
    /// profile and with PostgreSQL.
    public var store = Store.local
    /// Where local mail is received by SMTP; port 0 for any that is free.
    public var localSMTP: ServicesAddress? = .tcp(
        SocketAddress(IPAddress(v4: 0x7f00_0001), port: 2525))
    /// Bytes of all local mail.
    public var localLimit = MailLimits().totalBytes

    /// The URL of the JMAP server. Without one, JMAP requests are answered 503 with a hint.
    public var jmapURL: BaseURL?
    /// The paths below ``jmapURL`` that the JMAP session object names; the defaults are those of
    /// Cyrus IMAP.
    public var jmapAPIPath = "/jmap/"
    /// RFC 8620 §6.1: a URI template with `{accountId}`.
    public var jmapUploadPath = "/jmap/upload/{accountId}/"
    /// RFC 8620 §6.2: with `{accountId}`, `{blobId}`, `{name}` and `{type}`.
    public var jmapDownloadPath = "/jmap/download/{accountId}/{blobId}/{name}?accept={type}"
    /// RFC 8620 §7.3: with `{types}`, `{closeafter}` and `{ping}`.
    public var jmapEventSourcePath =
        "/jmap/eventsource/?types={types}&closeafter={closeafter}&ping={ping}"
    /// The source of the rest of the session object.
    public var jmapSession = JMAPSessionSettings()
    /// The limits in the session object, while it is configured.
    public var jmapLimits = JMAPDirectory.Limits()
    /// The name of a mailbox in the mail store: the subject of capability tokens.
    public var subject = MailSubject.address

    /// ``exchanger``, or `mx.` and the first domain.
    public var effectiveExchanger: Domain {
        exchanger ?? Domain(parsing: "mx.\(domains[0])") ?? domains[0]
    }

    static let settings =
        addresses + JMAPSessionSettings.settings + [
            Setting("mail.subject", \.mail.subject, .oneOf)
        ]

    private static let addresses = [
        Setting(
            "mail.domains", \.mail.domains,
            .list(of: domain, 1...1000, accepts: "1 to 1,000 domain names")
        ).reloadable,
        Setting("mail.subaddress_delimiter", \.mail.subaddressDelimiter, delimiter).reloadable,
        Setting(
            "mail.reserved_local_parts", \.mail.reservedLocalParts,
            .list(of: localPart, 0...10_000, accepts: "at most 10,000 local parts")
        ).reloadable,
        Setting("mail.exchanger", \.mail.exchanger, domain.optional).reloadable,
        Setting("mail.store", \.mail.store, .oneOf),
        Setting("mail.local_smtp", \.mail.localSMTP, smtpAddress.optional),
        Setting("mail.local_limit", \.mail.localLimit, .integer(1_048_576...(1 << 36))),
        Setting("mail.jmap_url", \.mail.jmapURL, BaseURL.syntax.optional),
        Setting("mail.jmap_api_path", \.mail.jmapAPIPath, template()),
        Setting("mail.jmap_upload_path", \.mail.jmapUploadPath, template("accountId")),
        Setting(
            "mail.jmap_download_path", \.mail.jmapDownloadPath,
            template("accountId", "blobId", "name", "type")),
        Setting(
            "mail.jmap_event_source_path", \.mail.jmapEventSourcePath,
            template("types", "closeafter", "ping")),
    ]

    private static let smtpAddress = Syntax<ServicesAddress>.string(
        "an address with a port (127.0.0.1:2525), port 0 for any that is free, or unix: and a path",
        read: { ServicesAddress($0) ?? ServicesAddress(anyPortOf: $0) }, write: \.text)

    private static let domain = Syntax<Domain>.string(
        "a domain name", read: { Domain(parsing: $0) }, write: \.text)

    private static let localPart = Syntax<String>.string(
        "a local part", read: { LocalPart(parsing: $0)?.text }, write: { $0 })

    private static let delimiter = Syntax<SubaddressDelimiter>.string(
        "one of \"+\", \"-\", \"_\", \".\", \"=\", \"#\", or \"\" for none",
        read: { text in
            if text.isEmpty { return SubaddressDelimiter(character: nil) }
            guard text.count == 1, let character = text.first, "+-_.=#".contains(character) else {
                return nil
            }
            return SubaddressDelimiter(character: character)
        }, write: { $0.character.map { String($0) } ?? "" })

    /// A path as a URI template (RFC 6570, level 1) with exactly these variables.
    static func template(_ variables: String...) -> Syntax<String> {
        let names = variables.map { "{\($0)}" }
        return .string(
            "a path that begins with \"/\""
                + (names.isEmpty ? "" : " and contains " + names.joined(separator: ", ")),
            read: { text in
                guard text.hasPrefix("/"), text.utf8.count <= 1000,
                    text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
                else { return nil }
                let found = text.split(separator: "{", omittingEmptySubsequences: false)
                    .dropFirst().map { "{" + $0.prefix { $0 != "}" } + "}" }
                return found.sorted() == names.sorted() ? text : nil
            }, write: { $0 })
    }
}

/// The sub-address delimiter; none when `character` is `nil`.
public struct SubaddressDelimiter: Equatable, Sendable {
    public let character: Character?
}
