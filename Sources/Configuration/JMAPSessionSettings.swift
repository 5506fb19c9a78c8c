internal import AuthAPI
public import AuthCore
public import Fetching
internal import Platform
internal import Scheduling

/// The settings of `[mail]` about the JMAP session object.
public struct JMAPSessionSettings: Sendable {
    enum Source: String, CaseIterable, Sendable {
        /// Made from the settings.
        case configured
        /// Fetched from the mail store.
        case proxy
    }

    var source = Source.configured
    /// The URL at which this server reaches the mail store. Without one it is `mail.jmap_url`,
    /// which clients use.
    var storeURL: BaseURL?
    /// Where the store serves the object. Cyrus IMAP redirects `/.well-known/jmap` to it.
    public var path = "/jmap/"
    /// How long a fetch may take.
    public var timeout = Duration.seconds(2)
    /// How long an object is kept for its mailbox.
    public var lifetime = Duration.seconds(5)
    /// A PEM file of certificates to trust instead of the system's.
    var caFile: String?

    static let settings = [
        Setting("mail.jmap_session", \.mail.jmapSession.source, .oneOf),
        Setting("mail.jmap_store_url", \.mail.jmapSession.storeURL, BaseURL.syntax.optional),
        Setting("mail.jmap_session_path", \.mail.jmapSession.path, MailSection.template()),
        Setting(
            "mail.jmap_session_timeout", \.mail.jmapSession.timeout,
            .duration(.milliseconds(10) ... .seconds(60))),
        Setting(
            "mail.jmap_session_cache", \.mail.jmapSession.lifetime,
            .duration(.zero ... .seconds(60))),
        Setting("mail.jmap_ca_file", \.mail.jmapSession.caFile, Syntax.path.optional),
        Setting("mail.jmap_max_size_upload", \.mail.jmapLimits.maxSizeUpload, limit),
        Setting("mail.jmap_max_concurrent_upload", \.mail.jmapLimits.maxConcurrentUpload, limit),
        Setting("mail.jmap_max_size_request", \.mail.jmapLimits.maxSizeRequest, limit),
        Setting(
            "mail.jmap_max_concurrent_requests", \.mail.jmapLimits.maxConcurrentRequests, limit),
        Setting("mail.jmap_max_calls_in_request", \.mail.jmapLimits.maxCallsInRequest, limit),
        Setting("mail.jmap_max_objects_in_get", \.mail.jmapLimits.maxObjectsInGet, limit),
        Setting("mail.jmap_max_objects_in_set", \.mail.jmapLimits.maxObjectsInSet, limit),
    ]

    /// RFC 8620 §1.3: an UnsignedInt.
    private static let limit = Syntax<Int>.integer(1...9_007_199_254_740_991)
}

extension MailSection {
    /// The URL at which this server reaches the mail store; `nil` without a mail store.
    public var storeURL: BaseURL? {
        guard let jmapURL else { return nil }
        return jmapSession.storeURL ?? jmapURL
    }

    /// The same; also `nil` if session objects are made from the settings.
    public var proxiedStoreURL: BaseURL? {
        jmapSession.source == .proxy ? storeURL : nil
    }

    /// The rules for fetching from the store. The operator has named it, and it is usually on this
    /// machine or its network: http, loopback and private addresses are allowed in every profile.
    /// - Parameter areShared: whether clients and sites have shares.
    public func storeRules(areShared: Bool) -> FetchRules {
        var limits = FetchLimits()
        limits.bodyBytes = 65_536
        limits.perTarget = 16
        limits.transfers = 16
        limits.lookups = 4
        limits.waitingPerSlot = 256
        if areShared {
            limits.perClient = 4
            limits.perSite = 8
        } else {
            limits.shares = .unlimited
        }
        return FetchRules(
            allowsHTTP: true, allowsPrivateNetworks: true, ports: .any,
            certificateFile: jmapSession.caFile, userAgent: "postern/\(Process.version)",
            limits: limits)
    }
}
