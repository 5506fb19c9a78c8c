public import Networking

/// The PROXY protocol header, versions 1 and 2 (HAProxy's proxy-protocol.txt, §2): a proxy names
/// its client in it before the first byte of the client.
///
/// Use: call `read` with all bytes so far until it returns something else than `needMore`.
/// Guarantees: never traps, decides within ``maxBytes``, and the result does not depend on how the
/// bytes were split.
enum ProxyHeader {
    enum Progress: Equatable {
        case needMore
        /// The header is the first `bytes` bytes.
        /// - Parameter client: nil if the address of the socket counts: the proxy has opened the
        ///   connection itself (LOCAL) or does not know the client (UNKNOWN, UNSPEC, a Unix
        ///   socket).
        case done(client: SocketAddress?, bytes: Int)
        case invalid(ProxyHeaderError.Reason)
    }

    /// The longest header of version 1, with its CR LF (§2.1).
    static let maxLineBytes = 107
    /// The longest header of version 2 that is accepted. The format allows 65,551 bytes; proxies
    /// send a few hundred, or a few thousand with a TLS client's certificate.
    static let maxBytes = 4_096

    private static let lineStart = Array("PROXY ".utf8)
    private static let signature = Array("\r\n\r\n\0\r\nQUIT\n".utf8)

    static func read(_ bytes: [UInt8]) -> Progress {
        if zip(bytes, lineStart).allSatisfy(==) { return readLine(bytes) }
        if zip(bytes, signature).allSatisfy(==) { return readBinary(bytes) }
        return .invalid(.missing)
    }
}

// MARK: - Version 1, a line of text

extension ProxyHeader {
    private static func readLine(_ bytes: [UInt8]) -> Progress {
        let window = bytes.prefix(maxLineBytes - 1)
        guard let end = window.firstIndex(where: { $0 == 0x0d || $0 == 0x0a }) else {
            return window.count < maxLineBytes - 1 ? .needMore : .invalid(.tooLong)
        }
        guard bytes[end] == 0x0d else { return .invalid(.badLine) }
        guard end + 1 < bytes.count else { return .needMore }
        guard bytes[end + 1] == 0x0a else { return .invalid(.badLine) }
        // The first is `PROXY`, as the line begins with it and a space.
        let fields = bytes[..<end].split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        // §2.1: the rest after UNKNOWN is ignored.
        if fields[1].elementsEqual("UNKNOWN".utf8) { return .done(client: nil, bytes: end + 2) }
        guard fields.count == 6, let isV6 = family(fields[1]) else { return .invalid(.badLine) }
        guard let client = address(fields[2], fields[4], isV6: isV6),
            address(fields[3], fields[5], isV6: isV6) != nil
        else { return .invalid(.badAddress) }
        return .done(client: client, bytes: end + 2)
    }

    private static func family(_ name: ArraySlice<UInt8>) -> Bool? {
        if name.elementsEqual("TCP4".utf8) { return false }
        return name.elementsEqual("TCP6".utf8) ? true : nil
    }

    private static func address(
        _ host: ArraySlice<UInt8>, _ digits: ArraySlice<UInt8>, isV6: Bool
    ) -> SocketAddress? {
        guard host.contains(UInt8(ascii: ":")) == isV6, (1...5).contains(digits.count),
            digits.allSatisfy(ASCII.isDigit), digits.count == 1 || digits.first != 0x30,
            let port = UInt16(exactly: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }),
            let address = IPAddress(utf8: host)
        else { return nil }
        return SocketAddress(address.unmapped, port: port)
    }
}

// MARK: - Version 2, binary

extension ProxyHeader {
    private static func readBinary(_ bytes: [UInt8]) -> Progress {
        guard bytes.count >= 16 else { return .needMore }
        guard bytes[12] >> 4 == 2 else { return .invalid(.badVersion) }
        let command = bytes[12] & 0x0f
        guard command <= 1 else { return .invalid(.badCommand) }
        let rest = Int(bytes[14]) << 8 | Int(bytes[15])
        guard 16 + rest <= maxBytes else { return .invalid(.tooLong) }
        guard bytes.count >= 16 + rest else { return .needMore }
        // §2.2: family and addresses of LOCAL are ignored.
        guard command == 1 else { return .done(client: nil, bytes: 16 + rest) }
        let (family, transport) = (bytes[13] >> 4, bytes[13] & 0x0f)
        // A datagram has no connection.
        guard family <= 3, transport <= 1 else { return .invalid(.badFamily) }
        let block = bytes[16..<(16 + rest)]
        switch (family, transport) {
        case (1, 1):
            guard rest >= 12 else { return .invalid(.badAddress) }
            return .done(client: client(block, addressBytes: 4), bytes: 16 + rest)
        case (2, 1):
            guard rest >= 36 else { return .invalid(.badAddress) }
            return .done(client: client(block, addressBytes: 16), bytes: 16 + rest)
        default: return .done(client: nil, bytes: 16 + rest)
        }
    }

    /// Source address, destination address, source port, destination port (§2.2).
    private static func client(_ block: ArraySlice<UInt8>, addressBytes: Int) -> SocketAddress? {
        let port = block.dropFirst(2 * addressBytes).prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
        return IPAddress(bytes: block.prefix(addressBytes)).map {
            SocketAddress($0.unmapped, port: port)
        }
    }
}

/// A connection that needs a PROXY protocol header, but has none or is not from a trusted proxy. It
/// is closed without a response: the peer may not speak HTTP.
public struct ProxyHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable {
        case untrustedPeer = "the peer is not a trusted proxy"
        case missing = "the connection does not begin with one"
        case badLine = "its line is not PROXY, TCP4 or TCP6, two addresses and two ports"
        case badAddress = "its addresses or ports are not valid"
        case badVersion = "its version is neither 1 nor 2"
        case badCommand = "its command is neither LOCAL nor PROXY"
        case badFamily = "its address family or transport is not that of a stream connection"
        case tooLong = "it is too long"
        /// The connection was closed, or the deadline passed, before the end of the header.
        case truncated = "it is incomplete"
    }

    public let peer: SocketAddress
    public let reason: Reason

    public var description: String {
        "closed the connection of \(peer), which needs a PROXY protocol header: \(reason.rawValue)"
    }
}
