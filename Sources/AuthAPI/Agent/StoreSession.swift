internal import StrictJSON

/// The session object that the mail store gave (RFC 8620 §2), with the URLs that clients use.
///
/// All other members stay as the store gave them: capabilities and limits, accounts, and `state`.
/// The store repeats `state` in every JMAP response, so that clients see when their object is
/// outdated.
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
    /// Whether there is mail that the client can read. While the store has not created the mailbox
    /// there is no account, or one without capabilities (Cyrus IMAP).
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
        let account = session["primaryAccounts"]?.object?[Self.mail]?.string
            .flatMap { session["accounts"]?.object?[$0]?.object }
        hasMail = account?["accountCapabilities"]?.object?[Self.mail]?.object != nil
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

/// Maps the mail store's URLs to those for clients, which may reach it through a proxy.
struct StoreURLs: Sendable {
    /// The URLs at which this server and clients reach the store; without a slash at the end.
    let store: String
    let clients: String

    private static let maxBytes = 2048

    /// A path, or a URL below the store's own URL, is changed to a URL below the clients' URL.
    /// Other URLs are kept, because a store that names one knows the URL that clients use.
    /// - Returns: `nil` for any other text, such as a relative path.
    func forClients(_ url: String) -> String? {
        let bytes = url.utf8
        guard (1...Self.maxBytes).contains(bytes.count),
            bytes.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        if let rest = Self.rest(of: url, below: store) { return clients + rest }
        if bytes.starts(with: "/".utf8), !bytes.starts(with: "//".utf8) {
            return clients + (Self.rest(of: url, below: storePath) ?? url)
        }
        let isAbsolute = ["https://", "http://"].contains { bytes.starts(with: $0.utf8) }
        return isAbsolute ? url : nil
    }

    /// The URL of the WebSocket capability (RFC 8887 §3). Cyrus IMAP gives `wss:` and a path.
    func webSocketForClients(_ url: String) -> String? {
        for (scheme, replaced) in [("ws:", "http:"), ("wss:", "https:")]
        where url.utf8.starts(with: scheme.utf8) {
            let rest = String(Substring(url.utf8.dropFirst(scheme.utf8.count)))
            let isAbsolute = rest.utf8.starts(with: "//".utf8)
            let found = forClients(isAbsolute ? replaced + rest : rest)
            return found.map { "ws" + String(Substring($0.utf8.dropFirst("http".utf8.count))) }
        }
        return nil
    }

    /// The path of the store's URL; empty when it has none.
    private var storePath: String {
        let afterScheme = store.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst("//".utf8.count)
        return String(Substring(afterScheme.drop { $0 != UInt8(ascii: "/") }))
    }

    /// The rest after `base`; `nil` if `url` is not below it or only begins with the same bytes.
    private static func rest(of url: String, below base: String) -> String? {
        guard !base.isEmpty, url.utf8.starts(with: base.utf8) else { return nil }
        let rest = url.utf8.dropFirst(base.utf8.count)
        guard let next = rest.first else { return "" }
        let isBelow = next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
        return isBelow ? String(Substring(rest)) : nil
    }
}
