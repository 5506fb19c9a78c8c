/// Who a request comes from when proxies hand it on.
///
/// Each proxy appends to X-Forwarded-For whom it has the request from, and anybody can begin such a
/// list. So it is believed from its end, and only as far as the addresses are trusted proxies': the
/// first other one is the client, whatever stands before it.
enum ForwardedFor {
    static func client(
        of headers: HeaderFields, from peer: PeerAddress, trusting proxies: [AddressBlock]
    ) -> PeerAddress {
        var client = peer
        var hops = headers.all("x-forwarded-for").flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        while proxies.contains(where: { $0.contains(client) }), let hop = hops.popLast() {
            // Who passes on what cannot be read is answerable for it.
            guard let before = address(hop) else { return client }
            client = before
        }
        return client
    }

    /// An address alone, or as some proxies write it: `192.0.2.1:80`, `[2001:db8::1]:80`.
    private static func address(_ hop: Substring) -> PeerAddress? {
        var text = hop.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        if text.first == "[", let end = text.firstIndex(of: "]") {
            return PeerAddress(address: String(text[..<end].dropFirst()))
        }
        if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
            text = text[..<colon]
        }
        return PeerAddress(address: String(text))
    }
}
