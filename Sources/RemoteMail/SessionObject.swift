internal import StrictJSON

/// What is needed of a session object (RFC 8620 §2).
struct SessionObject: Sendable {
    private static let mail = "urn:ietf:params:jmap:mail"
    private static let core = "urn:ietf:params:jmap:core"
    private static let maxURLBytes = 2048
    /// What every server allows, or should (RFC 8620 §2).
    private static let objects = 1...500

    let accountID: String
    let apiURL: String
    let state: String
    /// Objects in one call of a method.
    let maxObjects: Int
    private let download: String
    private let events: String

    /// Reads it on another executor: it may have a mebibyte.
    @concurrent
    static func read(
        _ bytes: [UInt8], _ settings: RemoteStore.Settings
    ) async throws(StoreFailure) -> SessionObject {
        try SessionObject(bytes, settings)
    }

    init(_ bytes: [UInt8], _ settings: RemoteStore.Settings) throws(StoreFailure) {
        guard case .object(let session)? = try? JSONValue.parse(bytes) else {
            throw .invalid("its session is not a JSON object")
        }
        func text(_ name: String) throws(StoreFailure) -> String {
            guard let text = session[name]?.string, text.utf8.count <= Self.maxURLBytes else {
                throw .invalid("`\(name)` of its session is not a string")
            }
            return text
        }
        func url(_ name: String) throws(StoreFailure) -> String {
            guard let url = Self.url(try text(name), settings) else {
                throw .invalid("`\(name)` of its session is not a URL of the store")
            }
            return url
        }
        guard let accounts = session["accounts"]?.object,
            let primary = session["primaryAccounts"]?.object
        else { throw .invalid("its session has no accounts") }
        state = try text("state")
        apiURL = try url("apiUrl")
        download = try url("downloadUrl")
        events = try url("eventSourceUrl")
        let limits = session["capabilities"]?.object?[Self.core]?.object
        let most = ["maxObjectsInGet", "maxObjectsInSet"].compactMap { limits?[$0]?.integer }.min()
        maxObjects = Int(
            min(max(most ?? .max, Int64(Self.objects.lowerBound)), Int64(Self.objects.upperBound)))
        // While Cyrus IMAP has not got the mailbox, there is an account without capabilities.
        guard let id = primary[Self.mail]?.string, id.utf8.count <= Self.maxURLBytes,
            let account = accounts[id]?.object,
            account["accountCapabilities"]?.object?[Self.mail]?.object != nil
        else { throw .noMailbox }
        accountID = id
    }

    func downloadURL(ofBlob id: String) -> String {
        fill(
            download,
            [
                ("accountId", accountID), ("blobId", id), ("name", "download"),
                ("type", "application/octet-stream"),
            ])
    }

    /// Of a stream that ends after the first event.
    var eventURL: String {
        fill(events, [("types", "Email"), ("closeafter", "state"), ("ping", "0")])
    }

    /// Fills in a URI template of level 1 (RFC 6570 §3.2.2).
    private func fill(_ template: String, _ values: [(name: String, value: String)]) -> String {
        var url = template
        for (name, value) in values {
            url = url.replacing("{\(name)}", with: Self.coded(value))
        }
        return url
    }

    private static func coded(_ value: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: bytes.append(byte)
            case _ where "-._~".utf8.contains(byte): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A URL of the store, as this server reaches it: the store may give a path, its own URL or the
    /// one that clients use. Anything else would get the credential.
    private static func url(_ text: String, _ settings: RemoteStore.Settings) -> String? {
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        for base in [settings.storeURL, settings.clientURL] {
            if let rest = rest(of: text, below: base) { return settings.storeURL + rest }
        }
        guard text.utf8.starts(with: "/".utf8), !text.utf8.starts(with: "//".utf8) else {
            return nil
        }
        return origin(of: settings.storeURL) + text
    }

    private static func rest(of url: String, below base: String) -> String? {
        guard url.utf8.starts(with: base.utf8) else { return nil }
        let rest = url.utf8.dropFirst(base.utf8.count)
        return rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : nil
    }

    /// Scheme, host and port.
    private static func origin(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let path = url[scheme.upperBound...].firstIndex(of: "/") ?? url.endIndex
        return String(url[..<path])
    }
}
