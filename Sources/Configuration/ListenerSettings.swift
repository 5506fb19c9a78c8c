public import HTTPEngine
internal import Networking

/// One listener for HTTP, from its table in `[[server.listeners]]` or from `server.host` and
/// `server.port`.
public struct ListenerSettings: Equatable, Sendable {
    /// What is served there.
    public enum Kind: String, CaseIterable, Sendable {
        case `public`, services
        /// Every request is answered with the same URL under `server.public_url`.
        case redirect
    }

    /// The settings of a single plain listener. They must not be set together with
    /// `server.listeners`.
    static let shortForm = ["server.host", "server.port", "server.proxy_protocol"]

    public let address: ListenerAddress
    public var serves = Kind.public
    public var usesTLS = false
    public var proxyProtocol = ProxyProtocol.off

    static let syntax = Syntax<ListenerSettings>(
        accepts: "a table with address (\(ListenerAddress.syntax.accepts)), and serves"
            + " (\(Syntax<Kind>.oneOf.accepts)), tls (\(Syntax<Bool>.boolean.accepts)) or"
            + " proxy_protocol (\(Syntax<ProxyProtocol>.oneOf.accepts)) where they are not the"
            + " defaults",
        parse: { raw in
            guard var fields = TableFields(raw),
                let address = fields.take("address", ListenerAddress.syntax)
            else { return nil }
            var listener = ListenerSettings(address: address)
            fields.take("serves", .oneOf, into: &listener.serves)
            fields.take("tls", .boolean, into: &listener.usesTLS)
            fields.take("proxy_protocol", .oneOf, into: &listener.proxyProtocol)
            return fields.areAccepted ? listener : nil
        },
        show: { listener in
            let address = RawValue.quote(listener.address.text)
            return "{ address = \(address), serves = \"\(listener.serves.rawValue)\","
                + " tls = \(listener.usesTLS),"
                + " proxy_protocol = \"\(listener.proxyProtocol.rawValue)\" }"
        })
}

/// Where a listener accepts connections, as in `[[server.listeners]]`.
public enum ListenerAddress: Equatable, Sendable {
    /// `host` is a numeric address, or `*` for all addresses of IPv4 and IPv6.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    static let syntax = Syntax<ListenerAddress>.string(
        "an address with a port, \"*:443\" for all addresses, or \"unix:\" and a path",
        read: { ListenerAddress($0) }, write: \.text)

    init?(_ text: String) {
        if case .unix(let path) = ServicesAddress(text) {
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        let port = Syntax<UInt16>.integer(0...65_535).parse(
            .untyped(String(text[text.index(after: colon)...])))
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard IPAddress(host)?.isIPv4 == false else { return nil }
        } else {
            guard host == "*" || IPAddress(host)?.isIPv4 == true else { return nil }
        }
        guard let port else { return nil }
        self = .tcp(host: String(host), port: port)
    }

    var text: String {
        switch self {
        case .tcp(let host, let port): "\(ListenAddress.tcp(host: host, port: port))"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether only programs on this machine can connect.
    var isLocal: Bool {
        switch self {
        case .tcp(let host, _): IPAddress(host)?.isLoopback ?? false
        case .unix: true
        }
    }
}

/// The fields of a table that are read one after the other.
struct TableFields {
    private var fields: [String: RawValue]
    private var hasFault = false

    init?(_ raw: RawValue) {
        guard case .table(let fields) = raw else { return nil }
        self.fields = fields
    }

    /// Every field was taken, and had an accepted value.
    var areAccepted: Bool { fields.isEmpty && !hasFault }

    /// - Returns: nil if there is no such field. Also nil if its value is not accepted; then
    ///   ``areAccepted`` is false.
    mutating func take<Value>(_ name: String, _ syntax: Syntax<Value>) -> Value? {
        guard let raw = fields.removeValue(forKey: name) else { return nil }
        let value = syntax.parse(raw)
        if value == nil { hasFault = true }
        return value
    }

    mutating func take<Value>(_ name: String, _ syntax: Syntax<Value>, into field: inout Value) {
        if let value = take(name, syntax) { field = value }
    }
}
