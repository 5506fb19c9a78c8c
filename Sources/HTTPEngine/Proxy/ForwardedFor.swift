/// Who a request comes from when proxies hand it on.
///
/// Each proxy appends whom it has the request from, and anybody can begin such a list. So it is
/// believed from its end, and only as far as the addresses are trusted proxies': the first other
/// one is the client, whatever stands before it.
enum ForwardedFor {
    /// Proxies one behind the other; who names more has begun the list himself.
    static let mostHops = 32

    static func client(
        of headers: HeaderFields, in header: ForwardedHeader, from peer: PeerAddress,
        trusting proxies: [AddressBlock]
    ) -> PeerAddress {
        guard proxies.contain(peer) else { return peer }
        var client = peer
        var hops = 0
        // A line that was left open cannot swallow the next one: each is read on its own.
        for line in headers.all(header.rawValue).reversed() {
            for node in nodes(line, header).reversed() {
                // Who passes on what cannot be read is answerable for it.
                guard hops < mostHops, let before = node else { return client }
                client = before
                hops += 1
                guard proxies.contain(client) else { return client }
            }
        }
        return client
    }

    /// Who is named, in order; `nil` for what is no address.
    private static func nodes(_ line: String, _ header: ForwardedHeader) -> [PeerAddress?] {
        switch header {
        case .xForwardedFor:
            line.split(separator: ",", omittingEmptySubsequences: false).suffix(mostHops + 1).map {
                PeerAddress(node: trimmed($0), bracketed: false)
            }
        case .forwarded:
            // Where one element ends is not known in a list that cannot be read.
            ForwardedList.nodes(line)?.suffix(mostHops + 1).map { node in
                node.flatMap { PeerAddress(node: $0, bracketed: true) }
            } ?? [nil]
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
