internal import StrictJSON

/// The session object that the mail store gave (RFC 8620 §2), with the URLs that clients use.
///
/// Everything else is as the store gave it: its capabilities and limits, its accounts, and the
/// `state` that it repeats in every JMAP response, so that clients see when theirs is outdated.
struct StoreSession: Sendable {
    /// Why a body is not a session object that clients can use.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private static let mail = "urn:ietf:params:jmap:mail"
    private static let webSocket = "urn:ietf:params:jmap:websocket"
    private static let urlNames = ["apiUrl", "downloadUrl", "uploadUrl", "eventSourceUrl"]
    private static let objectNames = ["capabilities", "accounts", "primaryAccounts"]

    /// The object as JSON.
    let body: [UInt8]
    /// Whether there is mail that the client can read. There is none while the store has not
    /// created the mailbox.
    let hasMail: Bool

    /// - Throws: ``Unusable``.
    init(_ bytes: [UInt8], urls: StoreURLs) throws(Unusable) {
        guard case .object(let session)? = try? JSONValue.parse(bytes) else {
            throw Unusable(description: "its session is not a JSON object")
        }
        for name in Self.objectNames where session[name]?.object == nil {
            throw Unusable(description: "`\(name)` of its session is not an object")
        }
        for name in Self.urlNames + ["username", "state"] where session[name]?.string == nil {
            throw Unusable(description: "`\(name)` of its session is not a string")
        }
        var clientURLs: [String: String] = [:]
        for name in Self.urlNames {
            guard let url = session[name]?.string.flatMap(urls.forClients) else {
                throw Unusable(description: "`\(name)` of its session is not a URL of the store")
            }
            clientURLs[name] = url
        }
        hasMail = session["primaryAccounts"]?.object?[Self.mail]?.string != nil
        body = JSONWriter.object(capacity: bytes.count + 512) { writer in
            for member in session.members {
                if let url = clientURLs[member.name] {
                    writer.member(member.name, url)
                } else if member.name == "capabilities", let capabilities = member.value.object {
                    writer.member(member.name) { Self.write(capabilities, to: &$0, urls) }
                } else {
                    writer.member(member.name, value: member.value)
                }
            }
        }
    }

    private static func write(
        _ capabilities: JSONObject, to writer: inout JSONWriter, _ urls: StoreURLs
    ) {
        for capability in capabilities.members {
            guard capability.name == webSocket, let properties = capability.value.object else {
                writer.member(capability.name, value: capability.value)
                continue
            }
            writer.member(capability.name) { writer in
                for property in properties.members {
                    let url = property.name == "url" ? property.value.string : nil
                    if let url = url.flatMap(urls.webSocketForClients) {
                        writer.member(property.name, url)
                    } else {
                        writer.member(property.name, value: property.value)
                    }
                }
            }
        }
    }
}

/// What the mail store's URLs are for clients, which may reach it through a proxy.
struct StoreURLs: Sendable {
    /// The store as this server reaches it, and as clients do; without a slash at the end.
    let store: String
    let clients: String

    private static let maxBytes = 2048

    /// A path, or a URL below the store's own, is put below the clients' URL. A URL elsewhere is
    /// kept: a store that gives one knows what clients use.
    /// - Returns: `nil` for what is neither, such as a path that is relative to another.
    func forClients(_ url: String) -> String? {
        guard (1...Self.maxBytes).contains(url.utf8.count),
            url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        if let path = Self.path(of: url, below: store) { return clients + path }
        if url.hasPrefix("/"), !url.hasPrefix("//") {
            return clients + (Self.path(of: url, below: storePath) ?? url)
        }
        return url.hasPrefix("https://") || url.hasPrefix("http://") ? url : nil
    }

    /// The URL of the WebSocket capability (RFC 8887 §3). Cyrus IMAP gives `wss:` and a path.
    func webSocketForClients(_ url: String) -> String? {
        for (scheme, replaced) in [("ws:", "http:"), ("wss:", "https:")]
        where url.hasPrefix(scheme) {
            let rest = String(url.dropFirst(scheme.count))
            let found = forClients(rest.hasPrefix("//") ? replaced + rest : rest)
            return found.map { "ws" + $0.dropFirst("http".count) }
        }
        return nil
    }

    /// The path of the store's URL; empty when it has none.
    private var storePath: String {
        guard let authority = store.firstRange(of: "://")?.upperBound,
            let slash = store[authority...].firstIndex(of: "/")
        else { return "" }
        return String(store[slash...])
    }

    /// What follows `base`, unless `url` only begins with the same characters.
    private static func path(of url: String, below base: String) -> String? {
        guard !base.isEmpty, url.hasPrefix(base) else { return nil }
        let rest = url.dropFirst(base.count)
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") ? String(rest) : nil
    }
}
